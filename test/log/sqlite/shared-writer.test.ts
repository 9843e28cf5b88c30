import { join } from 'node:path';
import type { Channel } from '../../../src/log/engine';
import { packEvents } from '../../../src/log/sqlite/batch';
import { SqliteSharedWriter } from '../../../src/log/sqlite/shared-writer';
import { rowsOf } from '../../support/sqlite';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { newEvent } from '../event-log-suite';

describe('the writer of several workers', () => {
  const folder = useTemporaryFolder();

  it('closes once every worker has gone, after what the last of them had sent', async () => {
    const file = join(folder.path, 'events.db');
    const writer = new SqliteSharedWriter({ file });
    await writer.start();
    const heard: ((message: unknown) => void)[] = [];
    const gone: (() => void)[] = [];
    const channel: Channel = {
      send: () => undefined,
      onMessage: (listener) => heard.push(listener),
      onClose: (listener) => gone.push(listener),
    };
    writer.serve(channel);
    writer.serve(channel);
    let isClosed = false;
    const closed = writer.close().then(() => (isClosed = true));
    gone[0]?.();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(isClosed).toBe(false);
    heard[1]?.({ call: 0, append: packEvents([newEvent({ id: 'last' })]) });
    gone[1]?.();
    await closed;
    expect(rowsOf(file, 'SELECT id FROM file.events')).toEqual([{ id: 'last' }]);
  });
});
