// What several scripts need: programs that run beside them, none of which outlives its script, calls, and random numbers.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const SERVICE = fileURLToPath(new URL('../dist/main.js', import.meta.url));
export const TOOL = fileURLToPath(new URL('../dist/cli/events.js', import.meta.url));

/**
 * For the services that a script restarts while it calls them. Meanwhile their port is free, and another service may get it: it answers
 * 404 on this path, which no caller takes for an answer of its own.
 */
export const SERVICE_ROOT = `run-${randomUUID()}`;

const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * Starts a program with these variables and PATH, and keeps what it printed last.
 *
 * @param stdio - for standard error and what comes after it, as `spawn` takes them.
 * @param user - the number of the user that it runs as, if not this one.
 */
export function run([program, ...args], { cwd, variables = {}, stdio = ['pipe'], user } = {}) {
  const env = { PATH: process.env.PATH, ...variables };
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', ...stdio], uid: user, gid: user });
  running.add(child);
  let output = '';
  let wake = () => undefined;
  const add = (text) => {
    output = (output + text).slice(-100_000);
    wake();
  };
  child.stdout.on('data', add);
  child.stderr?.on('data', add);
  const until = (event) =>
    new Promise((resolve) => {
      child.once('error', ({ message }) => resolve(message));
      child.once(event, resolve);
    });
  const exited = until('exit');
  // What it printed has come only when its pipes are closed.
  const ended = until('close').then((result) => {
    running.delete(child);
    add(typeof result === 'string' ? result : '');
    return result;
  });
  return {
    child,
    /** Resolves to the exit code once the whole output is there. */
    ended,
    output: () => output,
    /** Resolves to the match once the output has one. */
    async prints(pattern) {
      for (const deadline = Date.now() + 60_000; ;) {
        const found = pattern.exec(output);
        if (found) return found;
        if (!running.has(child) || Date.now() > deadline)
          throw new Error(`${program} ${args.join(' ')} did not print ${pattern}: ${output}`);
        await Promise.race([new Promise((resolve) => (wake = resolve)), setTimeout(1000)]);
      }
    },
    /** Sends a signal, also to a program that is stopped, and resolves to the exit code; processes that it has started may still run. */
    end(signal = 'SIGTERM') {
      child.kill(signal);
      child.kill('SIGCONT');
      return exited;
    },
  };
}

/** Picks a port of the loopback address on which no program listens. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

export const agent = new Agent({ keepAlive: true });

/** Makes a request over a connection that stays open. Resolves to the status and the body of the answer. */
export function ask(address, { method = 'GET', headers, body = '' } = {}) {
  return new Promise((resolve, reject) => {
    const fields = { 'Content-Length': Buffer.byteLength(body), ...headers };
    request(address, { method, agent, headers: fields }, (response) => {
      text(response).then((answer) => resolve({ status: response.statusCode, body: answer }), reject);
    })
      .on('error', reject)
      .end(body);
  });
}

/**
 * Yields the events of a log.
 *
 * @param get - makes a GET request of a path after the endpoint's, which asks for JSON, and resolves to the body.
 */
export async function* everyEvent(get) {
  for (let after = '0'; ;) {
    const events = JSON.parse(await get(`/GetEvents?after=${after}`, { Accept: 'application/json' }));
    if (events.length === 0) return;
    yield* events;
    after = events.at(-1).sequence;
  }
}

/** Does something again and again until it succeeds; throws its error once `within` ms are over. */
export async function retried(action, within = 30_000) {
  for (const deadline = Date.now() + within; ; await setTimeout(20)) {
    try {
      return await action();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

/** Seconds of processor time that each thread of a process has taken so far, by its id. */
export async function threadSeconds(pid) {
  const ids = await readdir(`/proc/${pid}/task`);
  // The first figure of schedstat is the time in nanoseconds.
  const times = ids.map(async (id) => parseInt(await readFile(`/proc/${pid}/task/${id}/schedstat`, 'utf8')) / 1e9);
  return new Map((await Promise.all(times)).map((seconds, i) => [Number(ids[i]), seconds]));
}

/** Numbers from 0 to 1, the same ones for the same seed (mulberry32). */
export function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** The middle of some numbers. */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}

export const BINDINGS = ['soap11', 'soap12', 'httpget', 'httppost'];

const ENVELOPES = {
  soap11: ['http://schemas.xmlsoap.org/soap/envelope/', 'text/xml; charset=utf-8'],
  soap12: ['http://www.w3.org/2003/05/soap-envelope', 'application/soap+xml; charset=utf-8'],
};

/**
 * One call: its method, the path after the endpoint's, header fields and body. `payload` is what the operation has inside over SOAP,
 * `form` what it has as fields over HTTP GET and POST.
 */
export function callOf(binding, operation, { payload = '', form = '' } = {}) {
  if (binding === 'httpget') return { method: 'GET', path: `/${operation}?${form}`, headers: {}, body: '' };
  if (binding === 'httppost') {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    return { method: 'POST', path: `/${operation}`, headers, body: form };
  }
  const [namespace, type] = ENVELOPES[binding];
  const headers = {
    'Content-Type': type,
    ...(binding === 'soap11' && { SOAPAction: `"http://tempuri.org/${operation}"` }),
  };
  const element = `<${operation} xmlns="http://tempuri.org/">${payload}</${operation}>`;
  const body = `<s:Envelope xmlns:s="${namespace}"><s:Body>${element}</s:Body></s:Envelope>`;
  return { method: 'POST', path: '', headers, body };
}
