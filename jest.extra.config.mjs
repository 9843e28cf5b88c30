import base from './jest.config.mjs';

/**
 * The suites that need more than Node: the npm registry, a browser, a proxy. One that cannot run here says so.
 *
 * @type {import('jest').Config}
 */
export default { ...base, roots: ['<rootDir>/test/extra'], testPathIgnorePatterns: [], maxWorkers: 1 };
