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
  /** That of the sources, as the build found it; `unknown` if that was outside git. */
  commit,
  /** For people. */
  name: `${version} (${commit})`,
  /** The command that starts the tool. The package has no sources: a clone has them, and no command of this name. Not npm: PowerShell takes `--` out. */
  tool: existsSync(join(ROOT, 'src')) ? 'node dist/cli/events.js' : 'asmx-webhook-events',
};

function commitOfBuild(): string {
  try {
    return readFileSync(join(__dirname, '..', 'commit'), 'utf8');
  } catch {
    return 'unknown';
  }
}

/** Ends a program on a version of Node that is too old. Called before its other imports, which fail there without saying why. */
export function requireNode(): void {
  const oldest = engines.node.replace('>=', '');
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number);
  const current = process.version.slice(1);
  const [major = 0, minor = 0] = current.split('.').map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  console.error('WebHook needs Node ' + oldest + ' or later; this is ' + current + '.');
  process.exit(1);
}
