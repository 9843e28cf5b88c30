import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describeWithPostgres, usePostgres } from '../support/postgres';

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
async function expectNoHoldUps(transport: string, each: number, log: { readonly EVENT_LOG?: string } = {}) {
  const env = { PATH: process.env.PATH, ...log, OVER: `^${transport}$`, EACH: String(each) };
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT], { env, maxBuffer: 1 << 24 });
  const rows = stdout
    .trim()
    .split('\n')
    .map((line): Row => {
      const [, what = '', , times = '', , status = ''] = line.split(' | ');
      return { what, best: Math.min(...times.split('/').map(Number)), status };
    });
  const plain = rows.filter(({ what }) => what === PLAIN).map(({ best }) => best);
  expect(plain.length).toBeGreaterThan(5 / each);
  const most = Math.max(MOST, TIMES_PLAIN * (plain.sort((a, b) => a - b)[plain.length >> 1] ?? 0));
  expect(new Set(rows.map(({ what }) => what)).size).toBeGreaterThan(80 / each);
  expect(rows.filter(({ what }) => what.includes('beside'))).toHaveLength(3);
  expect(rows.filter(({ best }) => best >= most)).toEqual([]);
  expect(rows.filter(({ what, status }) => what.startsWith('page of') && status !== '200')).toEqual([]);
  expect(rows.filter(({ status }) => !/^[2-5]\d\d$/.test(status))).toEqual([]);
}

describe('no message within the limits holds up callers for more than 100 ms', () => {
  // What a message makes the service compute does not depend on how it arrives: a part of them shows that for the other transports.
  it.each([
    ['HTTP', 1],
    ['TLS', 5],
    ['two workers', 4],
  ])('over %s (of each %d)', (transport, each) => expectNoHoldUps(transport, each), 600_000);

  describeWithPostgres('with an event log in PostgreSQL', () => {
    const postgres = usePostgres();

    it('over HTTP', async () => {
      const EVENT_LOG = `postgres://webhook@127.0.0.1:${String(postgres.port())}/postgres?sslmode=disable`;
      await expectNoHoldUps('HTTP', 1, { EVENT_LOG });
    }, 600_000);
  });
});
