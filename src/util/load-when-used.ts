import Module, { createRequire } from 'node:module';

/**
 * Puts off loading CommonJS modules until they are called or one of their exports is used. This is for modules that a library
 * requires although the service does not use what they are for: call it before the library is loaded. Those that are not there
 * are left out.
 *
 * @param library - the file of the library that requires the modules, as in `soap/lib/wsdl`.
 * @param modules - as that file would name them.
 */
export function loadWhenUsed(library: string, ...modules: readonly string[]): void {
  const libraryFile = resolved(require, library);
  if (libraryFile === undefined) return;
  const ofLibrary = createRequire(libraryFile);
  for (const module of modules) {
    const file = resolved(ofLibrary, module);
    if (file !== undefined && !(file in require.cache)) putOff(file);
  }
}

function putOff(file: string): void {
  const placeholder = new Module(file);
  placeholder.filename = file;
  placeholder.loaded = true;
  const load = (): unknown => {
    if (require.cache[file] === placeholder) Reflect.deleteProperty(require.cache, file);
    return createRequire(file)(file);
  };
  // A function, since that is what some modules export.
  placeholder.exports = new Proxy(() => undefined, {
    get: (_target, name): unknown => Reflect.get(load() as object, name),
    apply: (_target, self, values: unknown[]): unknown => Reflect.apply(load() as () => unknown, self, values),
  });
  require.cache[file] = placeholder;
}

function resolved({ resolve }: Pick<NodeJS.Require, 'resolve'>, module: string): string | undefined {
  try {
    return resolve(module);
  } catch {
    return undefined;
  }
}
