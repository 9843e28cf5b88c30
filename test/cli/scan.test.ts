import { endOf } from '../../src/cli/scan';
import { SqliteEventLog } from '../../src/log/sqlite/event-log';
import { newEvent } from '../log/event-log-suite';
import { useTemporaryFolder } from '../support/temporary-folder';

describe('the end of a log, from which --follow prints', () => {
  const folder = useTemporaryFolder();

  it('is after the newest event, however large that is, and at 0 in an empty log', async () => {
    const log = await SqliteEventLog.open({ file: `${folder.path}/events.db` });
    try {
      expect(await endOf(log)).toEqual({ after: 0n });
      await log.append(newEvent());
      const { sequence } = (await log.scan({ after: 0n, limit: 1 }))[0] ?? {};
      expect(await endOf(log)).toEqual({ after: BigInt(sequence ?? 0) });
      await log.append(newEvent({ data: `"data":"${'x'.repeat(1_000_000)}"` }));
      expect(await endOf(log)).toEqual({ after: BigInt(sequence ?? 0) + 1n });
    } finally {
      await log.close();
    }
  });
});
