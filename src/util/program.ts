import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// Loaded on every version of Node, so it may use only what old ones know.
const ROOT = join(__dirname, '..', '..');
const { version, engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string;
  readonly engines: { readonly node: string };
};

const commit = commitOfBuild();

export const BUILD = {
  version,
  /** The commit of the sources, or `unknown` if they were built outside git. */
  commit,
  /** For people. */
  name: `${version} (${commit})`,
  /** How users of this build call the tool for the event log. */
  tool: `${command()} events`,
};

function command(): string {
  if (/[\\/]_npx[\\/]/.test(ROOT)) return `npx ./asmx-webhook-${version}.tgz`;
  // npx finds it in a clone, which has sources, and in a project.
  const isLocal = existsSync(join(ROOT, 'src')) || existsSync(join(ROOT, '..', '..', 'package.json'));
  return isLocal ? 'npx asmx-webhook' : 'asmx-webhook';
}

function commitOfBuild(): string {
  try {
    return readFileSync(join(__dirname, '..', 'commit'), 'utf8');
  } catch {
    return 'unknown';
  }
}

/** The signals that end the service. SIGBREAK is Ctrl-Break in a console of Windows, and never comes elsewhere. */
export const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGBREAK'] as const;

/** Ends a program on a version of Node that is too old. Called before other imports, which would fail there without saying why. */
export function requireNode(): void {
  const oldest = engines.node.replace('>=', '');
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number);
  const current = process.version.slice(1);
  const [major = 0, minor = 0] = current.split('.').map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  console.error('WebHook needs Node ' + oldest + ' or later; this is ' + current + '.');
  process.exit(1);
}
