// Kills the service under load, 100 times by default, and checks each time that no answered event is lost or recorded twice;
// or one of two workers and then their supervisor; or the forwarder of events, or the service from which followers read over HTTP, and
// checks that they have each of them: node scripts/kill-test.mjs [TIMES] [service|workers|forwarder|followers]
import { spawnSync } from 'node:child_process';

const [times = '100', what = 'service'] = process.argv.slice(2);
const suites = { forwarder: 'test/system/forward', followers: 'test/system/remote-log' };
const suite = suites[what] ?? 'test/system/kills';
const names = { service: 'one process .* kills', workers: 'workers .* kills', forwarder: 'kills', followers: 'kills' };
const { status } = spawnSync('npx', ['jest', suite, '-t', names[what]], {
  cwd: new URL('..', import.meta.url),
  env: { ...process.env, KILLS: times },
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
process.exitCode = status ?? 1;
