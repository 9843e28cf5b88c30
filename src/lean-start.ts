import Module, { createRequire } from 'node:module';

/**
 * Modules that our libraries load and this service does not use: the file of a library, and the modules as that file names them.
 * Together they are 300 modules and a third of the time that a start takes.
 */
const UNUSED: readonly (readonly [library: string, ...modules: string[]])[] = [
  ['soap/lib/wsdl', '../http'],
  ['express/lib/express', './application', './request', './response', 'serve-static'],
  ['body-parser', './lib/types/json', './lib/types/raw', './lib/types/text', './lib/types/urlencoded'],
  ['xmlbuilder2/lib/builder', './XMLBuilderCBImpl', './BuilderFunctionsCB'],
  [
    'xmlbuilder2/lib/builder/XMLBuilderImpl',
    '../readers',
    '@oozcitak/dom/lib/parser',
    '@oozcitak/url/lib/URLAlgorithm',
  ],
  ['prom-client/lib/metrics/processCpuTotal', '@opentelemetry/api'],
];

/**
 * Makes `require` give placeholders for these modules; each is loaded when it is used after all. This changes the libraries for the
 * whole process: only our own program may call it, before it loads them.
 */
export function startLean(): void {
  for (const [library, ...modules] of UNUSED) {
    const libraryFile = resolved(require, library);
    if (libraryFile === undefined) continue;
    const ofLibrary = createRequire(libraryFile);
    for (const module of modules) {
      const file = resolved(ofLibrary, module);
      if (file !== undefined && !(file in require.cache)) putOff(file);
    }
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
  // A function, since some modules export one.
  placeholder.exports = new Proxy(() => undefined, {
    get: (_target, name): unknown => Reflect.get(load() as object, name),
    apply: (_target, self, values: unknown[]): unknown => Reflect.apply(load() as () => unknown, self, values),
  });
  require.cache[file] = placeholder;
}

/** The file of a module; a release of the library may no longer have it. */
function resolved({ resolve }: Pick<NodeJS.Require, 'resolve'>, module: string): string | undefined {
  try {
    return resolve(module);
  } catch {
    return undefined;
  }
}
