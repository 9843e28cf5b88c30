import { endOf, positionBefore } from '../../src/cli/tool-log';
import { openMemoryLog } from '../../src/log/memory/event-log';
import { openSqliteLog } from '../../src/log/sqlite/event-log';
import { newEvent } from '../support/events';
import { useTemporaryFolder } from '../support/temporary-folder';

describe('the end of a log, from which --follow prints', () => {
  const folder = useTemporaryFolder();

  it('is after the newest event, however large that is, and at 0 in an empty log', async () => {
    const log = await openSqliteLog({ file: `${folder.path}/events.db` });
    try {
      expect(await endOf(log)).toEqual({ after: 0 });
      await log.append(newEvent());
      const position = (await log.scan({ after: 0, limit: 1 }))[0]?.position ?? 0;
      expect(await endOf(log)).toEqual({ after: position });
      await log.append(newEvent({ data: `"data":"${'x'.repeat(1_000_000)}"` }));
      expect(await endOf(log)).toEqual({ after: position + 1 });
    } finally {
      await log.close();
    }
  });
});

it('a time becomes the position before the first event since then, or the end of the log', async () => {
  const log = openMemoryLog();
  for (const recordedAt of [1000, 3000, 2000]) await log.append(newEvent({ recordedAt }));
  const positions = [0, 2500, 9000].map((since) => positionBefore(log, { after: 0, since }));
  expect(await Promise.all(positions)).toEqual([0, 1, 3]);
  expect(await positionBefore(log, { after: 7 })).toBe(7);
  await log.forget([1, 2, 3]);
  expect(await positionBefore(log, { after: 0 })).toBe(3);
  await log.close();
});
