import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { eventually } from './eventually';
import { send } from './http';
import { freePort } from './nginx';
import { logLines } from './process';
import { programPath } from './tools';

const MAIN = join(__dirname, '..', '..', 'dist', 'main.js');
const HOLD = join(__dirname, 'hold-sockets.sh');

/** The programs that a test with inherited sockets needs, with the packages that provide them. */
export const ACTIVATION = { 'systemd-socket-activate': 'systemd' };

/** The service on sockets that another process keeps open, and which starts it again whenever it ends. */
export interface ActivatedService {
  /** The addresses of the sockets, in the order of their names. */
  readonly addresses: readonly string[];
  /** Everything that was printed so far. */
  output(this: void): string;
  /** Waits until it has answered calls for the given time, counted from 1; resolves to its process id. */
  started(this: void, times: number): Promise<number>;
  /** Ends it and closes the sockets. */
  stop(this: void): Promise<void>;
}

/**
 * Opens sockets with these names as systemd does and connects to the first, which starts the service.
 */
export async function startActivated(
  names: readonly string[],
  variables: Readonly<Record<string, string>>,
  cwd: string,
): Promise<ActivatedService> {
  const ports = await Promise.all(names.map(freePort));
  const sockets = ports.flatMap((port) => ['-l', `127.0.0.1:${String(port)}`]);
  const settings = Object.entries(variables).map(([name, value]) => `--setenv=${name}=${value}`);
  const args = [...sockets, `--fdname=${names.join(':')}`, ...settings, 'sh', HOLD, process.execPath, MAIN];
  const child = spawn(programPath('systemd-socket-activate') ?? '', args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = once(child, 'close');
  const addresses = ports.map((port) => `http://127.0.0.1:${String(port)}`);
  await eventually('the sockets are open', () => text.split('Listening on').length > names.length);
  send(`${addresses[0] ?? ''}/healthz`).catch(() => undefined);
  return {
    addresses,
    output: () => text,
    async started(times) {
      let pids: unknown[] = [];
      await eventually(`it started ${String(times)} times`, () => {
        const first = variables.WORKERS === undefined ? 'started' : 'supervising';
        pids = logLines(text).flatMap(({ msg, pid }) => (msg === first ? [pid] : []));
        return pids.length >= times && text.split('WebHook answers at').length > times;
      });
      return Number(pids[times - 1]);
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
