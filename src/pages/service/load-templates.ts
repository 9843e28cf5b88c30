import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Eta, TemplateFunction } from 'eta';

/** Reads templates from a folder, `NAME.eta` as `@NAME`. Each is compiled when it is first used. */
export function loadTemplates(eta: Eta, folder: string, names: readonly string[]): void {
  for (const name of names) {
    const text = readFileSync(join(folder, `${name}.eta`), 'utf8');
    let compiled: TemplateFunction | undefined;
    eta.loadTemplate(`@${name}`, (values, options) => (compiled ??= eta.compile(text)).call(eta, values, options));
  }
}
