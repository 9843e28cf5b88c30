/**
 * Tests are compiled by ts-jest and type-checked against src; what they run is the build that ships, because the event
 * log's worker thread and the service as a process can only be started from compiled files.
 *
 * @type {import('jest').Config}
 */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  transform: { '^.+\\.ts$': ['ts-jest', { tsconfig: '<rootDir>/test/tsconfig.json' }] },
  moduleNameMapper: { '^(?:\\.{1,2}/)+src/(.*)$': '<rootDir>/dist/$1' },
  testTimeout: 30_000,
};
