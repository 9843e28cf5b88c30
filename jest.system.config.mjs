import base from './jest.config.mjs';

/**
 * The suites that need more than Node: the npm registry, a browser, a proxy. One that cannot run here says so.
 * The attacks in numbers are a suite of their own (`npm run test:attacks`): they measure, and want the machine to themselves.
 *
 * @type {import('jest').Config}
 */
export default {
  ...base,
  roots: ['<rootDir>/test/system'],
  testPathIgnorePatterns: ['<rootDir>/test/system/attacks.test.ts'],
};
