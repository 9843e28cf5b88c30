const { transform } = require('sucrase');

/** Compiles tests for jest without looking at types: every worker needs it, and TypeScript's own compiler takes six times as long. */
module.exports = {
  process: (source, path) =>
    transform(source, { transforms: ['typescript', 'imports'], filePath: path, disableESTransforms: true }),
};
