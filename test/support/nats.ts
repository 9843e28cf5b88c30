import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { programPath } from './tools';

/** A nats-server process on the loopback interface with JetStream in a folder. */
export interface NatsServer {
  readonly child: ChildProcess;
  readonly port: number;
  /** Gives a signal and resolves when the process has ended by it. */
  end(signal: NodeJS.Signals): Promise<void>;
}

const running = new Set<ChildProcess>();

/** Kills what a test that failed left running. */
export function killNatsServers(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Starts a server; port -1 lets it pick a free one. What it stores is in the folder, and there again after a restart. */
export async function startNats(folder: string, port = -1, more = ''): Promise<NatsServer> {
  const file = join(folder, 'nats.conf');
  const store = join(folder, 'jetstream');
  await writeFile(
    file,
    `host: 127.0.0.1\nport: ${String(port)}\nmax_payload: 32MB\njetstream { store_dir: ${JSON.stringify(store)} }\n${more}\n`,
  );
  const child = spawn(programPath('nats-server') ?? '', ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  running.add(child);
  child.on('exit', () => running.delete(child));
  const ended = once(child, 'exit');
  let output = '';
  const taken = await new Promise<number>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const found = /client connections on 127\.0\.0\.1:(\d+)/.exec(output);
      if (found && output.includes('Server is ready')) resolve(Number(found[1]));
    });
    void ended.then(() => {
      reject(new Error(`nats-server ended: ${output}`));
    });
  });
  return {
    child,
    port: taken,
    async end(signal) {
      child.kill(signal);
      child.kill('SIGCONT');
      await ended;
    },
  };
}

/** Does something with the streams of a server past the service. */
export async function withStreams<T>(port: number, action: (manager: JetStreamManager) => Promise<T>): Promise<T> {
  const connection = await connect({ port });
  try {
    return await action(await jetstreamManager(connection));
  } finally {
    await connection.close();
  }
}
