import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const SCRIPT = join(__dirname, '../../scripts/measure/hold-ups.mjs');
const PLAIN = 'SOAP, one text of 4 MB';

/** How long a message may hold up callers, in milliseconds of processor time: where that is dear, as many times what a plain one takes. */
const MOST = 100;
const TIMES_PLAIN = 3;

/** A message, and how long it held up callers at best: compiling, collecting garbage and other programs come at any time. */
interface Row {
  readonly what: string;
  readonly best: number;
  readonly status: string;
}

/** Sends one in `each` of the heaviest messages, and expects that none holds up callers for too long. */
export async function expectNoHoldUps(
  transport: string,
  each: number,
  log: { readonly EVENT_LOG?: string } = {},
): Promise<void> {
  const rows = await measure(transport, each, log);
  const plain = rows.filter(({ what }) => what === PLAIN).map(({ best }) => best);
  expect(plain.length).toBeGreaterThan(5 / each);
  const most = Math.max(MOST, TIMES_PLAIN * (plain.sort((a, b) => a - b)[plain.length >> 1] ?? 0));
  expect(new Set(rows.map(({ what }) => what)).size).toBeGreaterThan(80 / each);
  expect(rows.filter(({ what }) => what.includes('beside'))).toHaveLength(3);
  expect(rows.filter(({ best }) => best >= most)).toEqual([]);
  expect(rows.filter(({ status }) => !/^[2-5]\d\d$/.test(status))).toEqual([]);
}

async function measure(transport: string, each: number, log: { readonly EVENT_LOG?: string }): Promise<Row[]> {
  const env = { PATH: process.env.PATH, ...log, OVER: `^${transport}$`, EACH: String(each) };
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT], { env, maxBuffer: 1 << 24 });
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' | '))
    .map(([, what = '', , times = '', , status = '']) => ({
      what,
      best: Math.min(...times.split('/').map(Number)),
      status,
    }));
}
