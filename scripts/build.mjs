// Builds dist from src: compiles, copies the templates and removes what no longer has a source. If dist is already the
// build of these sources, it changes nothing and takes a few milliseconds: node scripts/build.mjs
//
// dist/.build holds two fingerprints: one of the sources, one of the outputs. They are taken from the contents of the files,
// not from their times, so that a git checkout, a deleted output and one that is left over are all noticed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('../', import.meta.url)));

const require = createRequire(import.meta.url);

const STAMP = join('dist', '.build');
const COMPILER_STATE = join('dist', '.tsbuildinfo');

/** Names the commit of the sources, which `--version` prints. */
const COMMIT = join('dist', 'commit');

/** What the output depends on besides the sources. npm writes the last one: it says which packages are installed. */
const SETTINGS = [
  'tsconfig.json',
  'package.json',
  'package-lock.json',
  join('scripts', 'build.mjs'),
  join('node_modules', '.package-lock.json'),
];

const sources = filesIn('src');
const built = existsSync(STAMP) ? readFileSync(STAMP, 'utf8').split('\n') : [];
const inputs = fingerprint([...sources, ...SETTINGS]);
const outputsAreWhole = built[1] === fingerprint(filesIn('dist').filter(isBuilt));
if (built[0] !== inputs || !outputsAreWhole) {
  const compiler = compilerPath();
  if (compiler !== undefined) build(compiler);
  else if (outputsAreWhole && built.length > 1)
    console.error('TypeScript is not installed: dist stays as it was built.');
  else {
    console.error(
      'dist has to be built, and TypeScript is not installed. Run `npm ci && npm run build`; then leave out what',
    );
    console.error('only development needs: `npm prune --omit=dev`.');
    process.exit(1);
  }
}
const commit = process.env.COMMIT || commitOfSources();
if (commit && (!existsSync(COMMIT) || readFileSync(COMMIT, 'utf8') !== commit)) writeFileSync(COMMIT, commit);

/** The commit, with `-dirty` if files differ from it; undefined outside git. */
function commitOfSources() {
  if (!existsSync('.git')) return undefined;
  return spawnSync('git', ['describe', '--always', '--dirty', '--exclude=*'], { encoding: 'utf8' }).stdout?.trim();
}

/** TypeScript's compiler, if the modules for development are installed. */
function compilerPath() {
  try {
    return require.resolve('typescript/bin/tsc');
  } catch {
    return undefined;
  }
}

function build(compiler) {
  console.log(
    built.length > 1
      ? 'Compiling what has changed …'
      : 'Compiling the service for the first time, which takes some seconds …',
  );
  rmSync(STAMP, { force: true });
  // The compiler writes only what has changed since its last run, even if an output is missing.
  if (!outputsAreWhole) rmSync(COMPILER_STATE, { force: true });
  compile(compiler);
  const settings = join('dist', 'config', 'process-config.d.ts');
  if (existsSync(join('src', 'config', 'process-config.ts'))) writeFileSync(settings, settingsDeclaration());
  const copies = sources.filter((file) => dirname(file).endsWith(`${sep}templates`)).map(copy);
  const compiled = sources
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => ['.js', '.js.map'].map((ending) => outputOf(file).replace(/\.ts$/, ending)));
  // The types of the package's only export; the others cannot be imported.
  const types = [join('dist', 'index.d.ts'), settings];
  const expected = new Set([...copies, ...compiled, ...types, COMPILER_STATE, COMMIT]);
  for (const file of filesIn('dist')) if (!expected.has(file)) rmSync(file);
  writeFileSync(STAMP, `${inputs}\n${fingerprint(filesIn('dist').filter(isBuilt))}\n`);
}

function compile(compiler) {
  const options = ['-p', '.', '--incremental', '--tsBuildInfoFile', COMPILER_STATE];
  const { status } = spawnSync(process.execPath, [compiler, ...options], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** The type of the settings of a program that embeds the service, so that an editor shows what each means. */
function settingsDeclaration() {
  const { VARIABLES } = require(resolve('dist/config/variables'));
  const { variablesOf } = require(resolve('dist/config/variable'));
  const members = variablesOf(VARIABLES).flatMap(({ name, description, otherwise, secret, ...variable }) => {
    const note = `   * ${description}\n   *\n   * @default ${variable.default ?? otherwise}`;
    const file = `  /** A file with the value of {@link ${name}}. */\n  readonly ${name}_FILE?: string | undefined;`;
    const value = `  /**\n${note}\n   */\n  readonly ${name}?: string | number | boolean | undefined;`;
    return secret ? [value, file] : [value];
  });
  const summary =
    '/** Settings of the service, as `docs/configuration.md` describes them. What is undefined is not set. */';
  return `${summary}\nexport interface WebHookSettings {\n${members.join('\n')}\n}\n`;
}

/** Copies a file of src and returns the path of the copy. */
function copy(file) {
  const target = outputOf(file);
  const content = readFileSync(file);
  mkdirSync(dirname(target), { recursive: true });
  if (!existsSync(target) || !readFileSync(target).equals(content)) writeFileSync(target, content);
  return target;
}

function outputOf(file) {
  return join('dist', file.slice('src'.length));
}

function isBuilt(file) {
  return file !== STAMP && file !== COMPILER_STATE && file !== COMMIT;
}

/** The files in a folder and in those inside it, sorted. */
function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** A hash of the names and contents of files; one that does not exist counts as empty. */
function fingerprint(files) {
  const hash = createHash('sha256');
  for (const file of files) {
    const content = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
    hash.update(`${file}\0${String(content.length)}\0`).update(content);
  }
  return hash.digest('hex');
}
