import Module, { createRequire } from 'node:module';

/**
 * Puts off loading a CommonJS module until it is called or one of its exports is used. This is for modules that a library requires although the
 * service does not use what they are for: call it before the library is loaded. A library that has no such module is left as it is.
 *
 * @param library - the file of the library that requires the module, as in `soap/lib/wsdl`.
 * @param module - the module as that file names it.
 */
export function loadWhenUsed(library: string, module: string): void {
  const file = resolved(library, module);
  if (file === undefined || file in require.cache) return;
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

function resolved(library: string, module: string): string | undefined {
  try {
    return createRequire(require.resolve(library)).resolve(module);
  } catch {
    return undefined;
  }
}
