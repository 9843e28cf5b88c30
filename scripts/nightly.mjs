// Runs the suites of test/nightly: accidents, faults, clusters, hold-ups, large attacks, packages and other versions of Node.
//   npm run test:nightly                 all of them; if they pass, .ci/nightly-passed names this commit: commit that file
//   npm run test:nightly -- --changed    those whose rooms have changed since that commit; all of them if git does not know it
// One suite: npx jest test/nightly/NAME
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

process.chdir(join(import.meta.dirname, '..'));

const PASSED = '.ci/nightly-passed';

/** What every suite depends on. */
const EVERYWHERE = 'package-lock.json jest.config.mjs tsconfig.json test/support/ scripts/nightly.mjs';
/** What every engine of the event log uses. */
const ENGINES = 'src/log/[^/]*$ src/util/';
const PROCESS = 'src/cli/ src/config/ src/main.ts src/run.ts';

/** Suites of test/nightly, and what they test: beginnings of paths. */
const SUITES = {
  // What stands between a call and the disk, for the service and its readers.
  chaos: 'src/(?!pages/|contract/|xml/)',
  'cluster jetstream-faults': `${ENGINES} src/log/jetstream/ src/cli/`,
  'postgres-faults': `${ENGINES} src/log/postgres/`,
  recovery: `${ENGINES} src/log/sqlite/ src/workers/`,
  'power-failure': 'src/log/sqlite/ src/util/files.ts src/cli/forward/position.ts',
  // A message may pass all of it but the tools.
  'hold-ups large-attacks fuzz': 'src/(?!cli/) scripts/measure/ test/security/',
  'package container compose': `package.json Dockerfile compose .dockerignore deploy/ scripts/ ${PROCESS}`,
  windows: `src/log/sqlite/ src/util/files.ts src/workers/ ${PROCESS}`,
  // What builds on Node's insides.
  'node-versions': 'src/http/ src/call/ src/workers/ src/log/sqlite/ src/main.ts src/run.ts package.json',
};

const git = (...args) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/** The files that differ from the commit at which every suite passed, or undefined if there is no such commit. */
function changedFiles() {
  try {
    return git('diff', '--name-only', readFileSync(PASSED, 'utf8').trim()).split('\n');
  } catch {
    console.log('git does not know the commit at which every suite passed: all of them run.');
    return undefined;
  }
}

const { values } = parseArgs({ options: { changed: { type: 'boolean' } } });
const changed = values.changed ? changedFiles() : undefined;
const files = Object.entries(SUITES).flatMap(([names, rooms]) => {
  const suites = names.split(' ').map((name) => `test/nightly/${name}.test.ts`);
  if (!changed) return suites;
  const places = new RegExp(`^(?:${[...`${EVERYWHERE} ${rooms}`.split(' '), ...suites].join('|')})`);
  const reason = changed.find((file) => places.test(file));
  console.log(`${names}: ${reason ? `run, since ${reason} has changed` : 'nothing that they test has changed'}`);
  return reason ? suites : [];
});
if (files.length > 0) {
  const jest = ['jest', '--config', 'jest.config.mjs', '--maxWorkers', '3', ...files];
  if (spawnSync('npx', jest, { stdio: 'inherit' }).status !== 0) process.exit(1);
}
if (!changed && git('status', '--porcelain', '--untracked-files=no') === '') {
  writeFileSync(PASSED, git('rev-parse', 'HEAD'));
}
