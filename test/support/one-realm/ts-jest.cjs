const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { version } = require('typescript/package.json');

const tsconfig = join(__dirname, '..', '..', 'tsconfig.json');
const OPTIONS = [version, readFileSync(tsconfig), readFileSync(join(__dirname, '..', '..', '..', 'tsconfig.json'))];
let transformer;

/** ts-jest, which loads TypeScript, half a second in each worker, only for files that it has not compiled yet. */
module.exports = {
  getCacheKey(source, path) {
    const hash = createHash('sha256');
    for (const part of [...OPTIONS, path, source]) hash.update(part).update('\0');
    return hash.digest('hex');
  },
  process(...given) {
    transformer ??= require('ts-jest').default.createTransformer({ tsconfig });
    return transformer.process(...given);
  },
};
