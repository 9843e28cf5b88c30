import { availableParallelism } from 'node:os';

/**
 * All tests, of which the scripts in package.json each run one folder. What they run is the build that ships (dist), because the event log's worker thread and
 * the service as a process can only be started from compiled files. Types are checked by `npm run typecheck`.
 *
 * @type {import('jest').Config}
 */
export default {
  testEnvironment: '<rootDir>/test/support/one-realm/environment.cjs',
  runtime: '<rootDir>/test/support/one-realm/runtime.cjs',
  testRunner: '<rootDir>/test/support/one-realm/runner.cjs',
  testSequencer: '<rootDir>/test/support/longest-first.cjs',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  transform: { '^.+\\.ts$': '<rootDir>/test/support/compile.cjs' },
  moduleNameMapper: { '^(?:\\.{1,2}/)+src/(.*)$': '<rootDir>/dist/$1' },
  testTimeout: 30_000,
  // Jest leaves one core idle by default; of two that is half.
  maxWorkers: Math.max(2, availableParallelism() - 1),
};
