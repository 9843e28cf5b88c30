// Programs import this file before any other: on a version of Node that is too old, other imports already fail. This one may use
// only what old versions know.
import { OLDEST_NODE } from './package-info';

if (isOlder(process.version.slice(1), OLDEST_NODE)) {
  console.error('WebHook needs Node ' + OLDEST_NODE + ' or later; this is ' + process.version.slice(1) + '.');
  process.exit(1);
}

function isOlder(version: string, than: string): boolean {
  const [major, minor] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = than.split('.').map(Number);
  return Number(major) < Number(oldestMajor) || (major === oldestMajor && Number(minor) < Number(oldestMinor));
}
