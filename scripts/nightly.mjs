// Runs the suites of test/nightly: accidents, faults, clusters, hold-ups, large attacks, packages and other versions of Node.
//   npm run test:nightly                 all of them; if they pass, .ci/nightly-passed names this commit: commit that file
//   npm run test:nightly -- --changed    those whose rooms have changed since that commit; all of them if git does not know it
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PASSED = '.ci/nightly-passed';

/** What every suite depends on. */
const EVERYWHERE = ['package-lock.json', 'jest.config.mjs', 'tsconfig.json', 'test/support/', 'scripts/nightly.mjs'];
/** What every engine of the event log uses. */
const ENGINES = ['src/log/[^/]*$', 'src/util/'];

/** Each suite: its files in test/nightly, and the files and folders that it tests. */
const SUITES = [
  // What stands between a call and the disk, for the service and its readers.
  { files: ['chaos'], rooms: ['src/(?!pages/|contract/|xml/)'] },
  {
    files: ['cluster', 'jetstream-faults'],
    rooms: [...ENGINES, 'src/log/jetstream/', 'src/cli/'],
  },
  { files: ['postgres-faults'], rooms: [...ENGINES, 'src/log/postgres/'] },
  { files: ['recovery'], rooms: [...ENGINES, 'src/log/sqlite/', 'src/workers/'] },
  { files: ['power-failure'], rooms: ['src/log/sqlite/', 'src/util/files.ts', 'src/cli/forward/position.ts'] },
  {
    files: ['hold-ups', 'large-attacks', 'fuzz'],
    // A message may pass all of it but the tools.
    rooms: ['src/(?!cli/)', 'scripts/measure/', 'test/security/'],
  },
  {
    files: ['package', 'container', 'compose'],
    rooms: [
      'package.json',
      'Dockerfile',
      'compose',
      '.dockerignore',
      'deploy/',
      'scripts/',
      'src/cli/',
      'src/config/',
      'src/main.ts',
      'src/run.ts',
    ],
  },
  {
    files: ['windows'],
    rooms: [
      'src/cli/',
      'src/config/',
      'src/log/sqlite/',
      'src/main.ts',
      'src/run.ts',
      'src/util/files.ts',
      'src/workers/',
    ],
  },
  {
    files: ['node-versions'],
    rooms: ['src/http/', 'src/workers/', 'src/log/sqlite/', 'src/main.ts', 'src/run.ts', 'package.json'],
  },
];

const git = (...args) =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

/** The files that differ from the commit at which every suite passed, or undefined if there is no such commit. */
function changedFiles() {
  try {
    return git('diff', '--name-only', readFileSync(`${ROOT}${PASSED}`, 'utf8').trim())
      .split('\n')
      .filter(Boolean);
  } catch {
    return undefined;
  }
}

const [option, ...more] = process.argv.slice(2);
const onlyChanged = option === '--changed';
if (more.length > 0 || (option !== undefined && !onlyChanged)) {
  console.error(
    `"${process.argv.slice(2).join(' ')}": only --changed is understood. One suite: npx jest --config jest.config.mjs test/nightly/NAME`,
  );
  process.exit(2);
}
const changed = onlyChanged ? changedFiles() : undefined;
if (onlyChanged && !changed) console.log('git does not know the commit at which every suite passed: all of them run.');

const isTouched = ({ files, rooms }) => {
  if (!changed) return true;
  const places = [...EVERYWHERE, ...rooms, ...files.map((file) => `test/nightly/${file}`)];
  const reason = changed.find((file) => places.some((place) => new RegExp(`^${place}`).test(file)));
  console.log(
    `${files.join(', ')}: ${reason ? `run, since ${reason} has changed` : 'nothing that they test has changed'}`,
  );
  return reason !== undefined;
};
const files = SUITES.filter(isTouched).flatMap((suite) => suite.files);
if (files.length > 0) {
  const patterns = files.map((file) => `test/nightly/${file}.test.ts`);
  const jest = ['jest', '--config', 'jest.config.mjs', '--maxWorkers', '3', ...patterns];
  const { status } = spawnSync('npx', jest, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
if (!changed && git('status', '--porcelain', '--untracked-files=no') === '') {
  writeFileSync(`${ROOT}${PASSED}`, git('rev-parse', 'HEAD'));
}
