// What several scripts need: programs that run beside them, and figures.
import { readdir, readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import program from '../test/support/program.cjs';

export const { certificateIn, childrenOf, freePort, randomOf, run, SERVICE } = program;

/**
 * Starts the service, by default of the build that SERVICE names or of this one. Resolves once it has printed its address, and each of its
 * WORKERS that it has started.
 */
export async function startService(cwd, variables = {}, command = [process.execPath, process.env.SERVICE ?? SERVICE]) {
  const service = run(command, { cwd, variables: { PORT: String(await freePort()), ...variables } });
  const [, url] = await service.prints(/WebHook answers at (\S+)/);
  await service.prints(new RegExp(`(?:"msg":"started"[^]*){${variables.WORKERS ?? 1}}`));
  return { ...service, url };
}

/** Makes a request, by default on a connection of its own. Resolves to its status and text; the status may be why it has none. */
export function ask(url, { body = '', method = body === '' ? 'GET' : 'POST', headers = {}, agent = false } = {}) {
  const begin = url.startsWith('https:') ? secureRequest : request;
  const fields = { ...headers, 'Content-Length': Buffer.byteLength(body) };
  return new Promise((resolve) => {
    begin(url, { method, headers: fields, agent, rejectUnauthorized: false }, (response) => {
      let text = '';
      response.setEncoding('latin1').on('data', (chunk) => (text += chunk));
      response.on('close', () => resolve({ status: response.statusCode, text }));
    })
      .on('error', ({ code, message }) => resolve({ status: code ?? message, text: '' }))
      .end(body);
  });
}

/** As {@link ask}, for the status alone. */
export async function statusOf(url, request) {
  return (await ask(url, request)).status;
}

/** Seconds of processor time that all threads of a process have taken so far. */
export async function processorSeconds(pid) {
  const ids = await readdir(`/proc/${pid}/task`);
  // The first figure of schedstat is the time in nanoseconds.
  const times = ids.map(async (id) => parseInt(await readFile(`/proc/${pid}/task/${id}/schedstat`, 'utf8')) / 1e9);
  return (await Promise.all(times)).reduce((sum, one) => sum + one, 0);
}

/** The middle of some numbers. */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}

/** The most memory that a program, or a child of it, has had resident, as text. */
export async function peakMemory(service) {
  return `${Math.round((await program.peakOf(service)) / 2 ** 20)} MiB`;
}
