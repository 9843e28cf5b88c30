import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './program.cjs';

export type NatsServer = Awaited<ReturnType<typeof startNats>>;

/**
 * Starts a nats-server on the loopback interface, with JetStream; port -1 lets it pick a free one. What it stores is in the folder, and still
 * there after a restart.
 */
export async function startNats(folder: string, port = -1, configuration = '') {
  const file = join(folder, 'nats.conf');
  await writeFile(file, `max_payload: 32MB\n${configuration}\n`);
  const stored = ['-js', '-sd', join(folder, 'jetstream')];
  const server = run(['nats-server', '-c', file, '-a', '127.0.0.1', '-p', String(port), ...stored]);
  const [, taken] = await server.prints(/client connections on 127\.0\.0\.1:(\d+)[^]*Server is ready/);
  return { ...server, port: Number(taken) };
}
