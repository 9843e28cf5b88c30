import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describeAttacks } from '../security/attacks';
import { describeWith } from '../support/tools';

// The default of MAX_REQUEST_BYTES.
describeAttacks(4 * 1024 * 1024);

describeWith(
  { openssl: 'openssl' },
  'with thousands of headers and of pipelined requests, and hundreds of readers',
  () => {
    const script = join(__dirname, '../../scripts/measure/attacks.mjs');

    it.each(['HTTP', 'TLS'])(
      'over %s the process stays below 512 MB, and a kept connection is served',
      async (transport) => {
        const env = { PATH: process.env.PATH, OVER: transport, SECONDS: '5' };
        const pattern = '^(?!callers)';
        const { stdout } = await promisify(execFile)(process.execPath, [script, pattern], { env });
        const rows = stdout.trim().split('\n');
        expect(rows.length).toBeGreaterThan(12);
        for (const row of rows) {
          expect(row).toMatch(/ \d+ MiB .* kept (\d+)\/\1 /);
          if (row.includes('| one')) expect(row).toMatch(/ new (\d+)\/\1 /);
          expect(Number(/ (\d+) MiB/.exec(row)?.[1])).toBeLessThan(488);
        }
      },
      900_000,
    );
  },
);
