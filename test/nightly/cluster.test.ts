import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describeWith } from '../support/tools';

const SCRIPT = join(__dirname, '..', '..', 'scripts', 'cluster', 'test.mjs');

describeWith({ 'nats-server': 'nats-server', nginx: 'nginx-light' }, 'three servers, two instances and nginx', () => {
  it('lose no answered event and record none twice, whichever part is taken away', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT], { timeout: 240_000 });
    console.log(stdout);
    expect(stdout).toContain('passed');
  }, 250_000);
});
