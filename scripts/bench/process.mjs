// Starts a server of the bench in a process of its own, pinned to a core.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SERVER_CORE } from './wrk.mjs';

const folder = import.meta.dirname;
/** The program of the servers that the service is compared with; its argument says which. */
export const SERVERS = join(folder, 'servers.mjs');
export const SERVICE = join(folder, '..', '..', 'dist', 'main.js');

const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

/** Starts a script on Node, like `launch`. `preload`: modules that are loaded before it. */
export function start(script, { argument = [], preload = [], ...options } = {}) {
  const required = preload.flatMap((name) => ['--require', join(folder, name)]);
  return launch([process.execPath, ...required, script, ...argument], options);
}

/** Starts a server and waits until it has printed its address. */
export async function launch(command, { variables = {}, cwd, cores = SERVER_CORE } = {}) {
  const begun = performance.now();
  const child = spawn('taskset', ['-c', cores, ...command], {
    cwd,
    env: { PATH: process.env.PATH, PORT: '0', NODE_ENV: 'production', ...variables },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  running.add(child);
  const ended = once(child, 'exit').then(() => running.delete(child));
  const url = await new Promise((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const found = /https?:\/\/[^\s"]+/.exec(output);
      if (found) resolve(found[0]);
    });
    child.on('exit', () => reject(new Error(`The server did not start: ${output}`)));
  });
  return {
    url,
    child,
    /** When the process was started, as `performance.now()`. */
    begun,
    /** Milliseconds from the start of the process to the line that says it is ready. */
    readyAfter: performance.now() - begun,
    /** Seconds of processor time that the process has taken so far: user and system, all threads, in steps of 10 ms. */
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
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
