// Drives a server with wrk (https://github.com/wg/wrk).
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The core of the servers and that of the load generator. */
export const SERVER_CORE = '0';
const LOAD_CORE = '1';

const REPORT = `
done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format('REPORT {"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"max":%d,"wrong":%d,"broken":%d,"processor":%f}',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), latency.max, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout, os.clock()))
end
`;

/** Ends the program, and says what to install, if something that the bench needs is missing. */
export async function requireWrk() {
  for (const [program, name] of [
    ['wrk', 'wrk'],
    ['taskset', 'util-linux'],
  ]) {
    try {
      await run('which', [program]);
    } catch {
      console.error(`The bench needs ${program}. On Debian: apt-get install ${name}`);
      process.exit(1);
    }
  }
}

/**
 * Calls an address from a number of connections for some seconds. Resolves to requests per second, latencies in
 * milliseconds, errors, the seconds of processor time that wrk took, and their share of the time: near 1, wrk is what limits.
 * Throws if an answer before or after was wrong.
 */
export async function load(url, call, { connections = 32, seconds = 3, cores = LOAD_CORE } = {}) {
  const target = url + call.path;
  await check(target, call);
  const script = join(tmpdir(), `webhook-bench-${process.pid}-${++scripts}.lua`);
  await writeFile(script, luaOf(call));
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '--latency', '-s', script, target];
  const { stdout, stderr } = await run('taskset', ['-c', cores, 'wrk', ...options]);
  await rm(script);
  // When its time was over, wrk left a call on each connection unfinished: MAX_IN_FLIGHT still counts those.
  await setTimeout(200);
  await check(target, call);
  const report = /REPORT (.*)/.exec(stdout)?.[1];
  if (report === undefined) throw new Error(`wrk printed: ${stdout}${stderr}`);
  const { requests, microseconds, p50, p99, max, wrong, broken, processor } = JSON.parse(report);
  const duration = microseconds / 1e6;
  return {
    requests,
    rate: requests / duration,
    p50: p50 / 1000,
    p99: p99 / 1000,
    max: max / 1000,
    errors: wrong + broken,
    generator: processor / duration,
    processorSeconds: processor,
  };
}

/**
 * wrk's script for a call. A counter is put into a request that was written once, since wrk's core is not to be what limits.
 * It starts elsewhere in every script: 13 digits, never the same twice in a run of the bench.
 */
function luaOf({ method, headers, body }) {
  const fields = Object.entries(headers).map(([name, value]) => `wrk.headers[ ${lua(name)} ] = ${lua(value)}`);
  const lines = [`wrk.method = ${lua(method)}`, ...fields, REPORT];
  if (method === 'POST') lines.push(`wrk.body = ${lua(body.replace('COUNTER', `${10_000 + scripts}COUNTING`))}`);
  if (body.includes('COUNTER')) {
    lines.push(
      'local before, after',
      'local count = 10000000',
      'init = function()',
      '  local whole = wrk.format()',
      "  local first, last = string.find(whole, 'COUNTING', 1, true)",
      '  before, after = string.sub(whole, 1, first - 1), string.sub(whole, last + 1)',
      'end',
      'request = function()',
      '  count = count + 1',
      '  return before .. count .. after',
      'end',
    );
  }
  return lines.join('\n');
}

let scripts = 0;

const lua = (text) => `[==[${text}]==]`;

/** Makes a call once. Throws if its answer is not right. */
export async function check(target, { method, headers, body, right }) {
  const answer = await fetch(target, { method, headers, ...(method === 'POST' ? { body } : {}) });
  const text = await answer.text();
  if (answer.status !== 200 || !right.test(text)) throw new Error(`${target}: ${answer.status} ${text}`);
}
