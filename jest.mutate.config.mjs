import base from './jest.config.mjs';

/**
 * The tests that see mutants (`npm run mutate`): those that start no server and so take milliseconds. They import src itself, not
 * the build, so that only the tests of the mutated file have to run.
 *
 * @type {import('jest').Config}
 */
export default {
  ...base,
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: [
    '<rootDir>/test/get-post/{http-content,http-input}.test.ts',
    '<rootDir>/test/soap/{arguments,envelope,envelope-headers,envelope-reader,payload}.test.ts',
    '<rootDir>/test/events/{event,payload}.test.ts',
    '<rootDir>/test/log/page.test.ts',
    '<rootDir>/test/events/cloudevents/*.test.ts',
    '<rootDir>/test/http/{callers,rate-limit}.test.ts',
    '<rootDir>/test/access/{access-control,credentials,local-callers,open-service,viewers}.test.ts',
    '<rootDir>/test/senders/*.test.ts',
  ],
  testEnvironment: 'node',
  runtime: undefined,
  moduleNameMapper: {},
  setupFilesAfterEnv: ['<rootDir>/test/support/steady-properties.ts'],
};
