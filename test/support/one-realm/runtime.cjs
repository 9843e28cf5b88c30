const { join, sep } = require('node:path');
const vm = require('node:vm');
const { default: Runtime } = require('jest-runtime');

const BUILD = join(__dirname, '..', '..', '..', 'dist') + sep;
const PACKAGES = `${sep}node_modules${sep}`;
/** Keeps the tests of one file in its modules, and so is loaded anew for each. */
const FRAMEWORK = `${PACKAGES}jest-circus${sep}`;

/** By its path what each file was compiled from and to: test files have one realm, and so can share it. */
const compiled = new Map();

/**
 * Stands in for Node's `AsyncLocalStorage`, in which jest-circus keeps the test that runs: Node's makes every promise cost more, and
 * here one test runs at a time.
 */
class RunningTest {
  #store;

  getStore() {
    return this.#store;
  }

  run(store, work) {
    const before = this.#store;
    this.#store = store;
    return work().finally(() => (this.#store = before));
  }
}

/**
 * Jest's module loader, except that the build and its packages are loaded once for each jest worker, as Node loads them, instead of
 * once for each test file. Test files and their helpers are loaded anew for each. Goes with `environment.cjs`.
 */
module.exports = class OneRealmRuntime extends Runtime {
  constructor(...args) {
    super(...args);
    const { executor } = this;
    executor.compile = (source, filename) => {
      const before = compiled.get(filename);
      if (before?.source === source) return before.run;
      const run = vm.compileFunction(source, executor.injectedModuleParameters, {
        filename,
        importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
      });
      compiled.set(filename, { source, run });
      return run;
    };
  }

  requireModule(from, moduleName, options, isRequireActual) {
    if (moduleName === 'node:async_hooks' && from.includes(FRAMEWORK)) return { AsyncLocalStorage: RunningTest };
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
