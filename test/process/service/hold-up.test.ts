import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const SCRIPT = join(__dirname, '../../../scripts/measure/hold-ups.mjs');

/** How long a message may hold up callers, in milliseconds of processor time. */
const MOST = 50;

it.each(['HTTP', 'TLS', 'two workers'])(
  'no message within the limits holds up callers for more than 50 ms over %s',
  async (transport) => {
    const variables = { PATH: process.env.PATH, OVER: `^${transport}$` };
    const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT], { env: variables, maxBuffer: 1 << 24 });
    const rows = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' | '));
    expect(rows.length).toBeGreaterThan(100);
    const slow = rows.filter(([, , , times = '']) => Math.min(...times.split('/').map(Number)) >= MOST);
    expect(slow).toEqual([]);
    const unanswered = rows.filter((row) => !/^[2-5]\d\d$/.test(row.at(-1) ?? ''));
    expect(unanswered).toEqual([]);
  },
  600_000,
);
