import { statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import base from './jest.config.mjs';

/** A file system in memory, if there is one with room: on a disk the tests of SQLite would wait half of their time. */
const MEMORY = '/dev/shm';
try {
  const { bavail, bsize } = statfsSync(MEMORY);
  if (bavail * bsize > 1e9) process.env.TMPDIR = MEMORY;
} catch {
  // Temporary files are where they usually are.
}

/**
 * What `npm test` runs, in a minute: all but the tests that start processes, of which `test/main` has a few, those that take seconds
 * without one, which stand in `test/process`, too, and those that need more than Node.
 *
 * @type {import('jest').Config}
 */
export default {
  ...base,
  testPathIgnorePatterns: ['process', 'system', 'nightly', 'attacks', 'interop'].map(
    (folder) => `<rootDir>/test/${folder}/`,
  ),
  // These tests wait a quarter of their time, for limits and disks: two cores have room for four at once.
  maxWorkers: Math.max(4, availableParallelism() - 1),
};
