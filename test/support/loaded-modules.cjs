/** Preloaded into a program: as it ends, its main thread says on standard error which packages it has loaded. */
const { writeSync } = require('node:fs');
const { isMainThread } = require('node:worker_threads');

if (isMainThread) {
  process.on('exit', () => {
    const loaded = Object.values(require.cache).filter(({ paths }) => paths !== undefined);
    const packages = loaded.map(
      ({ filename }) => /.*[/\\]node_modules[/\\]((?:@[^/\\]+[/\\])?[^/\\]+)/.exec(filename)?.[1],
    );
    const names = [...new Set(packages)].filter((name) => name !== undefined);
    writeSync(2, `Loaded packages: ${names.map((name) => name.replace('\\', '/')).join(' ')}\n`);
  });
}
