import { join } from 'node:path';
import { eventually } from './eventually';
import { logLines, type ServiceProcess } from './process';

/** The environment with which a service can be asked for its memory. */
export const MEASURED = { NODE_OPTIONS: `--expose-gc --require ${join(__dirname, 'memory.cjs')}` };

/** Bytes that a process holds, its garbage collected: JavaScript objects and buffers. */
export async function memoryOf(service: ServiceProcess): Promise<number> {
  const { external = NaN, heapUsed = NaN } = await measure(service);
  return external + heapUsed;
}

/** Bytes of physical memory that a process has, its garbage collected; also that of what is not JavaScript, as of zlib. */
export async function residentMemoryOf(service: ServiceProcess): Promise<number> {
  return (await measure(service)).rss ?? NaN;
}

async function measure(service: ServiceProcess): Promise<Readonly<Record<string, number>>> {
  const lines = () => logLines(service.output()).filter(({ msg }) => msg === 'memory');
  const before = lines().length;
  service.child.kill('SIGUSR2');
  await eventually('it says how much memory it has', () => lines().length > before);
  return lines().at(-1) as Record<string, number>;
}
