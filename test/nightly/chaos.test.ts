import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { readEveryEvent, Load, Reader, verdict, WHOLE } from '../support/load';
import { startProcess, type ServiceProcess } from '../support/process';
import { randomOf } from '../support/program.cjs';
import { openDirectly } from '../support/sqlite';
import { useTemporaryFolder } from '../support/temporary-folder';
import { runTool } from '../support/tool';

const MINUTES = Number(process.env.TIMES ?? 2);
const SEED = Number(process.env.SEED ?? Date.now() % 1e9);

const folder = useTemporaryFolder();
const random = randomOf(SEED);
let service: ServiceProcess;
let copies = 0;
const start = async (variables: Readonly<Record<string, string>> = {}) =>
  (service = await startProcess({ LOG_LEVEL: 'warn', ...variables }, folder.path));
const tool = async (...args: string[]) =>
  expect(await runTool(args, {}, folder.path)).toEqual(expect.objectContaining({ code: 0 }));
const copy = () => join(folder.path, `copy-${String(copies++)}`);

const accidents: Readonly<Record<string, () => Promise<unknown>>> = {
  async kill() {
    await service.end('SIGKILL');
    await start();
  },
  async restart() {
    expect(await service.end('SIGTERM')).toBe(0);
    await start();
  },
  async workers() {
    await service.end('SIGKILL');
    await start({ WORKERS: '2', LOG_LEVEL: 'info' });
  },
  async stall() {
    service.child.kill('SIGSTOP');
    await setTimeout(random() * 3000);
    service.child.kill('SIGCONT');
  },
  async lock() {
    const other = openDirectly(join(folder.path, 'data', 'events.db'));
    other.exec('BEGIN IMMEDIATE');
    await setTimeout(random() * 8000);
    other.exec('ROLLBACK');
    other.close();
  },
  async move() {
    const data = join(folder.path, 'data');
    await rename(data, `${data}-away`);
    await setTimeout(random() * 3000);
    await rename(`${data}-away`, data);
  },
  backup: () => tool('backup', `${copy()}.db`),
  export: () => tool('export', `${copy()}.ndjson`),
  verify: () => tool('verify'),
};

it(
  `a service and its SQLite log lose no answered event, record none twice, and skip none for a reader (seed ${String(SEED)})`,
  async () => {
    await start();
    const load = new Load(() => service.url, { callers: 8, size: () => Math.floor(random() * 2000) });
    const reader = new Reader(() => service.url);
    const happened: string[] = [];
    for (const end = Date.now() + MINUTES * 60_000; Date.now() < end;) {
      const [name = '', happen] = Object.entries(accidents)[Math.floor(random() * 9)] ?? [];
      happened.push(name);
      await happen?.();
      await load.goesOn();
    }
    await load.stop();
    const read = await reader.stop();
    await accidents.verify?.();
    console.log(`${String(load.answered.length)} events answered; ${happened.join(', ')}`);
    expect(verdict(load, await readEveryEvent(service.url), read)).toEqual(WHOLE);
    await service.end('SIGTERM');
  },
  60_000 + MINUTES * 120_000,
);
