import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from './eventually';
import { logLines, type ServiceProcess } from './process';

/** The environment with which a service can be asked for its memory. */
export const MEASURED = { NODE_OPTIONS: `--expose-gc --require ${join(__dirname, 'memory.cjs')}` };

/** Bytes that a process holds, its garbage collected: JavaScript objects and buffers. */
export async function memoryOf(service: ServiceProcess): Promise<number> {
  const lines = () => logLines(service.output()).filter(({ msg }) => msg === 'memory');
  const before = lines().length;
  service.child.kill('SIGUSR2');
  await eventually('it says how much memory it has', () => lines().length > before);
  const { external = NaN, heapUsed = NaN } = lines().at(-1) as Record<string, number>;
  return external + heapUsed;
}

/** The most memory that a process has had, in bytes. Linux alone says it. */
export async function peakOf({ child }: ServiceProcess): Promise<number> {
  const status = await readFile(`/proc/${String(child.pid)}/status`, 'utf8');
  return 1024 * Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]);
}
