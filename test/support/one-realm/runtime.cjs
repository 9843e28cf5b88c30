const { join, sep } = require('node:path');
const vm = require('node:vm');
const { default: Runtime } = require('jest-runtime');

const BUILD = join(__dirname, '..', '..', '..', 'dist') + sep;
const PACKAGES = `${sep}node_modules${sep}`;
/** Keeps the tests of one file in its modules, and so is loaded anew for each. */
const FRAMEWORK = `${PACKAGES}jest-circus${sep}`;

/**
 * Jest's module loader, except that the build and its packages are loaded once for each jest worker, as Node loads them, instead of
 * once for each test file. Test files and their helpers are loaded anew for each. Goes with `environment.cjs`.
 */
module.exports = class OneRealmRuntime extends Runtime {
  constructor(...args) {
    super(...args);
    const { executor } = this;
    executor.compile = (source, filename) =>
      vm.compileFunction(source, executor.injectedModuleParameters, {
        filename,
        importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
      });
  }

  requireModule(from, moduleName, options, isRequireActual) {
    const path = this.#shared(from, moduleName);
    return path === undefined ? super.requireModule(from, moduleName, options, isRequireActual) : require(path);
  }

  /** The path of a module that test files share; undefined: of one that each loads anew. */
  #shared(from, moduleName) {
    if (moduleName === undefined) return isShared(from) ? from : undefined;
    let path;
    try {
      path = this._resolution.resolveCjs(from, moduleName);
    } catch {
      return undefined;
    }
    return isShared(path) ? path : undefined;
  }
};
module.exports.default = module.exports;

function isShared(path) {
  return path.startsWith(BUILD) || (path.includes(PACKAGES) && !path.includes(FRAMEWORK));
}
