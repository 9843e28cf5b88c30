import { join } from 'node:path';
import { forgetEvents, restore } from '../../src/cli/upkeep';
import { readConfig } from '../../src/config/config';
import { openSqliteLog } from '../../src/log/sqlite/event-log';
import { outcome, newEvent } from '../support/events';
import { useTemporaryFolder } from '../support/temporary-folder';

describe('forgetting events', () => {
  const folder = useTemporaryFolder();

  it.each([
    [
      'says how long calls wait where the file is large',
      400e6,
      [/400 MB.* about 6 seconds.* fail after 5\.$/, /^1 removed/, /^What was removed may still be in/],
    ],
    ['says nothing of that where it is small', 1e6, [/^1 removed/, /^What was removed may still be in/]],
  ])('%s', async (_what, bytes, said) => {
    const log = await openSqliteLog({ file: join(folder.path, 'events.db') });
    const { id } = await outcome(log.append(newEvent()));
    jest.spyOn(log, 'stats').mockResolvedValue({ events: 1, bytes, last: 1 });
    const error = jest.spyOn(console, 'error').mockReturnValue();
    jest.spyOn(process.stdout, 'write').mockImplementation((_text, ...rest: unknown[]) => {
      (rest.at(-1) as () => void)();
      return true;
    });
    await forgetEvents({ names: [id] }, log, 'SQLite', { rewrite: true }, new AbortController().signal);
    expect(error).toHaveBeenCalledTimes(said.length);
    for (const [i, line] of said.entries()) expect(error.mock.calls[i]?.[0]).toMatch(line);
    error.mockRestore();
    await log.close();
  });
});

it('restoring a copy is refused for a log on NATS, which nothing is asked for it', async () => {
  const { eventLog } = readConfig({ EVENT_LOG: 'nats://127.0.0.1:1/EVENTS' });
  await expect(restore('copy.db', eventLog)).rejects.toThrow(
    'restore works on a SQLite file. Use import for NATS JetStream.',
  );
});
