import { join } from 'node:path';
import { openSqliteLog } from '../../src/log/sqlite/event-log';
import { callOperation } from '../support/bindings';
import { eventually } from '../support/eventually';
import { recordTwice } from '../support/load';
import { childrenOf, startProcess } from '../support/process';
import { useTemporaryFolder } from '../support/temporary-folder';
import { rowsOf } from '../support/sqlite';

/**
 * Kills the service several times while events are recorded, and checks that each that was answered is in the log. With
 * several workers one of them is killed each time, and later their supervisor.
 */
export function describeKills(kills: number, workers = 1): void {
  describe(`what ${workers === 1 ? 'one process' : `${String(workers)} workers`} answered`, () => {
    const folder = useTemporaryFolder();

    it(
      `is in the log once after ${String(kills)} kills, with every event sent twice under one key`,
      async () => {
        const file = join(folder.path, 'data', 'events.db');
        const answers = new Map<string, Set<string>>();
        for (let kill = 0; kill < kills; kill++) {
          const service = await startProcess({ WORKERS: String(workers) }, folder.path);
          let killed = false;
          let sent = 0;
          const recording = recordTwice(25, service.url, answers, () => {
            sent++;
            return killed;
          });
          await eventually('events are recorded', () => sent > 75 + 20 * (kill % 10));
          if (workers > 1) {
            process.kill((await childrenOf(service))[kill % workers] ?? 0, 'SIGKILL');
            // The callers whose connections it had give up.
            const until = sent + 20;
            await recordTwice(1, service.url, answers, () => sent++ > until);
          }
          killed = true;
          await service.end('SIGKILL');
          await recording;
          expectWhole(file);
        }
        // What was cut off is sent again, as senders do, and everything under its old key gets its old id.
        const service = await startProcess({}, folder.path);
        const lastKeys = [...answers.keys()].slice(-200);
        for (const key of lastKeys) {
          answers
            .get(key)
            ?.add(await callOperation(service.url, 'httpget', 'RecordEvent', '', { 'Idempotency-Key': key }));
        }
        await service.end('SIGTERM');
        expectWhole(file);

        const log = await openSqliteLog({ file });
        const logged = new Map<string, string>();
        for (let after = 0; ;) {
          const page = await log.scan({ after, limit: 10_000 });
          if (page.length === 0) break;
          for (const { id, idempotencyKey = '', position } of page) {
            expect(logged.has(idempotencyKey)).toBe(false);
            logged.set(idempotencyKey, id);
            after = position;
          }
        }
        await log.close();
        expect(answers.size).toBeGreaterThan(kills * 20);
        const lost = [...answers].filter(([key, ids]) => [...ids].some((id) => id !== logged.get(key)));
        expect(lost).toEqual([]);
      },
      30_000 + kills * 15_000,
    );
  });
}

function expectWhole(file: string): void {
  expect(rowsOf(file, 'PRAGMA file.integrity_check')).toMatchObject([{ integrity_check: 'ok' }]);
  const [totals] = rowsOf(file, 'SELECT events, (SELECT count(*) FROM events) AS counted FROM totals');
  const { events, counted } = totals as { events: number; counted: number };
  expect(events).toBe(counted);
}
