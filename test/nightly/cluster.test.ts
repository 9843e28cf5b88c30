import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describeWith } from '../support/tools';

const SCRIPT = join(__dirname, '..', '..', 'scripts', 'cluster', 'test.mjs');

describeWith({ 'nats-server': 'nats-server', nginx: 'nginx-light' }, 'three servers, two instances and nginx', () => {
  it('lose no answered event and record none twice, whichever part is taken away', async () => {
    const { passed, output } = await new Promise<{ passed: boolean; output: string }>((resolve) => {
      execFile(process.execPath, [SCRIPT], { timeout: 240_000 }, (error, text, errors) => {
        resolve({ passed: error === null, output: text + errors });
      });
    });
    console.log(output);
    expect(output).toContain('passed');
    expect(passed).toBe(true);
  }, 250_000);
});
