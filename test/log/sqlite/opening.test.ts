import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
import { newEvent } from '../../support/events';
import { useTemporaryFolder } from '../../support/temporary-folder';

const folder = useTemporaryFolder();
afterEach(() => jest.restoreAllMocks());

it('opens a log in a folder that another process makes at the same moment', async () => {
  const file = join(folder.path, 'data', 'events.db');
  fs.mkdirSync(dirname(file));
  // As it was when this process looked.
  const look = jest.spyOn(fs, 'existsSync').mockReturnValueOnce(false);
  const log = await openSqliteLog({ file });
  expect(look).toHaveBeenCalled();
  expect(await log.append(newEvent({ id: 'a' }))).toEqual({ id: 'a', recorded: true });
  await log.close();
});
