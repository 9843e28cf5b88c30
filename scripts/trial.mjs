// Lets accidents happen under load, and checks that no answered event is lost, recorded twice, or skipped for a reader:
// node scripts/trial.mjs NAME [TIMES] runs one of these, which `npm run test:system` and `test:nightly` run a few times.
import { spawnSync } from 'node:child_process';

const TRIALS = {
  service: { times: 100, suite: 'system/kills', test: 'WORKERS=1' },
  workers: { times: 100, suite: 'system/kills', test: 'WORKERS=2' },
  forwarder: { times: 100, suite: 'system/forward', test: 'kills' },
  followers: { times: 100, suite: 'system/remote-log', test: 'kills' },
  // TIMES is the minutes; SEED repeats one.
  chaos: { times: 5, suite: 'nightly/chaos', test: '' },
  cluster: { times: 1, suite: 'nightly/cluster', test: '' },
  postgres: { times: 20, suite: 'system/promotion', test: '' },
};

const [name, times] = process.argv.slice(2);
const trial = TRIALS[name];
if (trial === undefined) throw new Error(`The trials are ${Object.keys(TRIALS).join(', ')}.`);
const { status } = spawnSync('npx', ['jest', '--config', 'jest.config.mjs', `test/${trial.suite}`, '-t', trial.test], {
  cwd: new URL('..', import.meta.url),
  env: { ...process.env, TIMES: times ?? String(trial.times) },
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
process.exitCode = status ?? 1;
