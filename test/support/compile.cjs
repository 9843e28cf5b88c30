const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { version } = require('ts-jest/package.json');

const TSCONFIG = join(__dirname, '..', 'tsconfig.json');
const SETTINGS = [__filename, TSCONFIG, join(__dirname, '..', '..', 'tsconfig.json')];
/** Changes with the compiler and its settings, and makes jest compile all files anew. */
const COMPILER = [version, ...SETTINGS.map((path) => readFileSync(path, 'utf8'))].join('\n');

/** Compiles test files with ts-jest, which is loaded only if one has changed: with TypeScript that takes each worker half a second. */
let compiler;

module.exports = {
  getCacheKey: (source, path) => createHash('sha1').update(`${COMPILER}\n${path}\n${source}`).digest('hex'),

  process(...given) {
    compiler ??= require('ts-jest').default.createTransformer({ tsconfig: TSCONFIG });
    return compiler.process(...given);
  },
};
