/**
 * Tests are compiled by ts-jest; what they run is the build that ships (dist), because the event log's worker thread and
 * the service as a process can only be started from compiled files. Types are checked by `npm run typecheck`.
 *
 * @type {import('jest').Config}
 */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testPathIgnorePatterns: ['<rootDir>/test/extra/', '<rootDir>/test/interop/'],
  testMatch: ['**/*.test.ts'],
  transform: { '^.+\\.ts$': ['ts-jest', { tsconfig: '<rootDir>/test/tsconfig.json' }] },
  moduleNameMapper: { '^(?:\\.{1,2}/)+src/(.*)$': '<rootDir>/dist/$1' },
  setupFilesAfterEnv: ['<rootDir>/test/support/cleanup.ts'],
  testTimeout: 30_000,
};
