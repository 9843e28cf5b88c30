import { join } from 'node:path';
import { readEveryEvent, Load, verdict, WHOLE } from '../support/load';
import { childrenOf, startProcess, type ServiceProcess } from '../support/process';
import { select } from '../support/sqlite';
import { useTemporaryFolder } from '../support/temporary-folder';

const KILLS = Number(process.env.TIMES ?? 5);

describe.each([1, 2])('what a service with WORKERS=%i answered', (workers) => {
  const folder = useTemporaryFolder();

  it(
    `is in the log once after ${String(KILLS)} kills, with every event sent twice under one key, and again where it was not answered`,
    async () => {
      const file = join(folder.path, 'data', 'events.db');
      const start = () => startProcess({ WORKERS: String(workers) }, folder.path);
      let service: ServiceProcess = await start();
      const load = new Load(() => service.url, { callers: 25, copies: () => 2 });
      for (let kill = 0; kill < KILLS; kill++) {
        await load.goesOn(50 + 20 * (kill % 10));
        if (workers > 1) {
          process.kill((await childrenOf(service))[kill % workers] ?? 0, 'SIGKILL');
          await load.goesOn(20);
        }
        await service.end('SIGKILL');
        expectWhole(file);
        service = await start();
      }
      await load.goesOn();
      await load.stop();
      expect(verdict(load, await readEveryEvent(service.url))).toEqual(WHOLE);
      expect(await service.end('SIGTERM')).toBe(0);
      expectWhole(file);
    },
    30_000 + KILLS * 15_000,
  );
});

function expectWhole(file: string): void {
  expect(select(file, 'PRAGMA file.integrity_check')).toMatchObject([{ integrity_check: 'ok' }]);
  const [totals] = select(file, 'SELECT events, (SELECT count(*) FROM events) AS counted FROM totals');
  const { events, counted } = totals as { events: number; counted: number };
  expect(events).toBe(counted);
}
