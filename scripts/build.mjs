// Builds dist from src: compiles, copies the templates and declares the settings: node scripts/build.mjs [--if-changed]
// With --if-changed only if the sources are not those of the last build, of which dist/.build has a fingerprint.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('../', import.meta.url)));
const require = createRequire(import.meta.url);

const STAMP = 'dist/.build';
/** Takes the place of dist when it is whole: a service that runs from dist loads some files only when it needs them. */
const NEXT = 'dist.next';
const OLD = 'dist.old';
const COMPILER = 'node_modules/typescript/bin/tsc';
/** The commit of the sources, which `--version` prints. */
const COMMIT = 'dist/commit';
/** What the output depends on besides the sources. */
const SETTINGS = ['tsconfig.json', 'package.json', 'package-lock.json', 'scripts/build.mjs'];

const sources = readdirSync('src', { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => `${entry.parentPath}/${entry.name}`.replaceAll('\\', '/'))
  .sort();
const fingerprint = fingerprintOf([...sources, ...SETTINGS]);
const isBuilt = existsSync(STAMP);
if (!process.argv.includes('--if-changed') || !isBuilt || readFileSync(STAMP, 'utf8') !== fingerprint) {
  if (existsSync(COMPILER)) build();
  else if (isBuilt) console.error('TypeScript is not installed: dist stays as it was built.');
  else {
    console.error(
      'TypeScript, which builds dist, is not installed. Run `npm ci && npm run build`, then `npm prune --omit=dev`.',
    );
    process.exit(1);
  }
}
const commit = process.env.COMMIT || commitOfSources();
if (commit && !(existsSync(COMMIT) && readFileSync(COMMIT, 'utf8') === commit)) writeFileSync(COMMIT, commit);

/** The commit, with `-dirty` if files differ from it; undefined outside git. */
function commitOfSources() {
  if (!existsSync('.git')) return undefined;
  return spawnSync('git', ['describe', '--always', '--dirty', '--exclude=*'], { encoding: 'utf8' }).stdout?.trim();
}

function build() {
  console.log('Compiling the service, which takes some seconds …');
  remove(NEXT);
  const { status } = spawnSync(process.execPath, [COMPILER, '-p', '.', '--outDir', NEXT], { stdio: 'inherit' });
  if (status !== 0) {
    remove(NEXT);
    process.exit(status ?? 1);
  }
  const templates = sources.filter((file) => file.includes('/templates/'));
  for (const file of templates) cpSync(file, file.replace('src', NEXT));
  // npx does this at its first run in a folder alone; after another build it could not run the tools.
  for (const tool of Object.values(require('../package.json').bin)) chmodSync(tool.replace('dist', NEXT), 0o755);
  // The types of the package's only export are the only ones that can be imported.
  for (const file of readdirSync(NEXT, { recursive: true })) {
    if (file.endsWith('.d.ts') && file !== 'index.d.ts') rmSync(`${NEXT}/${file}`);
  }
  if (existsSync('src/config/variables.ts')) writeFileSync(`${NEXT}/config/process-config.d.ts`, settingsDeclaration());
  writeFileSync(STAMP.replace('dist', NEXT), fingerprint);
  remove(OLD);
  if (existsSync('dist')) move('dist', OLD);
  move(NEXT, 'dist');
  remove(OLD);
}

function remove(folder) {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
}

/** Tries again for two seconds: under Windows a virus scanner may have a file of it open. */
function move(from, to, tries = 20) {
  try {
    renameSync(from, to);
  } catch (error) {
    if (tries === 0) throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    move(from, to, tries - 1);
  }
}

/** The type of the settings of a program that embeds the service, so that an editor shows what each means. */
function settingsDeclaration() {
  const { VARIABLES } = require(`../${NEXT}/config/variables`);
  const { variablesOf } = require(`../${NEXT}/config/variable`);
  const members = variablesOf(VARIABLES).flatMap(({ name, about }) => {
    const note = `   * ${about.description}\n   *\n   * @default ${about.default ?? about.otherwise ?? 'none'}`;
    const file = `  /** A file with the value of {@link ${name}}. */\n  readonly ${name}_FILE?: string | undefined;`;
    const value = `  /**\n${note}\n   */\n  readonly ${name}?: string | number | boolean | undefined;`;
    return about.secret ? [value, file] : [value];
  });
  const summary =
    '/** Settings of the service, as `docs/configuration.md` describes them. What is undefined is not set. */';
  return `${summary}\nexport interface WebHookSettings {\n${members.join('\n')}\n}\n`;
}

/** A hash of the names and contents of files, not of their times, which git changes. */
function fingerprintOf(files) {
  const hash = createHash('sha256');
  for (const file of files) {
    const content = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
    hash.update(`${file}\0${String(content.length)}\0`).update(content);
  }
  return hash.digest('hex');
}
