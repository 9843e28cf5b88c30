const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');
const { version } = require('typescript/package.json');

/** Changes with the compiler and with this file, and makes jest compile all files anew. */
const COMPILER = `${version}\n${readFileSync(__filename, 'utf8')}`;

/** Compiles test files, which jest keeps for the next run. TypeScript is loaded only for those that have changed. */
module.exports = {
  getCacheKey: (source, path) => createHash('sha1').update(`${COMPILER}\n${path}\n${source}`).digest('hex'),

  process(source, path) {
    const { ModuleKind, ScriptTarget, transpileModule } = require('typescript');
    const how = { target: ScriptTarget.ES2023, module: ModuleKind.CommonJS, esModuleInterop: true, sourceMap: true };
    const { outputText: code, sourceMapText = '{}' } = transpileModule(source, {
      fileName: path,
      compilerOptions: how,
    });
    return { code, map: { ...JSON.parse(sourceMapText), sources: [path] } };
  },
};
