// Starts a server of the bench in a process of its own, pinned to a core.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../support.mjs';
import { SERVER_CORE } from './wrk.mjs';

const folder = import.meta.dirname;
/** The program of the servers that the service is compared with; its argument says which. */
export const SERVERS = join(folder, 'servers.mjs');

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

/** Starts a script on Node, like `launch`. `preload`: modules that are loaded before it. */
export function start(script, { argument = [], preload = [], ...options } = {}) {
  const required = preload.flatMap((name) => ['--require', join(folder, name)]);
  return launch([process.execPath, ...required, script, ...argument], options);
}

/** Starts a server and waits until it has printed its address. */
export async function launch(command, { variables = {}, cwd, cores = SERVER_CORE } = {}) {
  const begun = performance.now();
  const server = run(['taskset', '-c', cores, ...command], {
    cwd,
    variables: { PORT: '0', NODE_ENV: 'production', ...variables },
    stdio: ['inherit', 'ipc'],
  });
  const { child } = server;
  const [url] = await server.prints(/https?:\/\/[^\s"]+/);
  return {
    url,
    child,
    /** When the process was started, as `performance.now()`. */
    begun,
    /** Milliseconds from the start of the process to the line that says it is ready. */
    readyAfter: performance.now() - begun,
    /** Seconds of processor time, in steps of 10 ms, that the process has taken, also in threads that have ended. */
    async processorSeconds() {
      const [, fields] = (await readFile(`/proc/${child.pid}/stat`, 'utf8')).split(') ');
      const [user, system] = fields.split(' ').slice(11, 13);
      return (Number(user) + Number(system)) / 100;
    },
    async residentMebibytes() {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024;
    },
    /** Begins to measure the event loop's delay, where `loop-delay.cjs` is loaded. */
    watchLoopDelay() {
      child.send('watch');
    },
    /** Ends it and resolves to the delay in milliseconds. */
    async loopDelay() {
      child.send('report');
      const [delay] = await once(child, 'message');
      return delay;
    },
    stop: () => server.end(),
  };
}
