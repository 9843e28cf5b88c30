// Kills the service under load, 100 times by default, and checks each time that no answered event is lost or recorded
// twice: node scripts/kill-test.mjs [TIMES]
import { spawnSync } from 'node:child_process';

const [times = '100'] = process.argv.slice(2);
const { status } = spawnSync('npx', ['jest', '--config', 'jest.system.config.mjs', 'test/system/kills'], {
  cwd: new URL('..', import.meta.url),
  env: { ...process.env, KILLS: times },
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
process.exitCode = status ?? 1;
