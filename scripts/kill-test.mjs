// Kills the service under load so many times, 100 unless told otherwise, and checks after each that nothing that was
// answered is lost or doubled: node scripts/kill-test.mjs [TIMES]
import { spawnSync } from 'node:child_process';

const [times = '100'] = process.argv.slice(2);
const { status } = spawnSync('npx', ['jest', 'test/process/durability', '-t', 'kills'], {
  cwd: new URL('..', import.meta.url),
  env: { ...process.env, KILLS: times },
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
process.exitCode = status ?? 1;
