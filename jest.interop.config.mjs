import base from './jest.config.mjs';

/**
 * Clients made from the live WSDL by the toolchains of this machine. One that cannot be made here says what it lacks.
 *
 * @type {import('jest').Config}
 */
export default { ...base, roots: ['<rootDir>/test/interop'], testPathIgnorePatterns: [] };
