import base from './jest.config.mjs';

/**
 * What `npm test` runs: all but the tests that start processes, of which `test/main` has a few.
 *
 * @type {import('jest').Config}
 */
export default { ...base, testPathIgnorePatterns: [...base.testPathIgnorePatterns, '<rootDir>/test/process/'] };
