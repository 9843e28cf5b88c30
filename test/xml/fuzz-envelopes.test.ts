import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const SCRIPT = join(__dirname, '../../scripts/fuzz/envelopes.mjs');

it('reads generated messages, right and wrong ones, exactly as with saxes alone', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, '500', '7']);
  expect(stdout).toMatch(
    /^500 messages \(seed 7\), \d{3} of them right, 9\d\.\d % of those without saxes: no difference\n$/,
  );
});
