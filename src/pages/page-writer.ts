import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Eta } from 'eta';
import { BUILD } from '../util/program';
import type { Contract } from '../contract/contract';

export interface HtmlPage {
  readonly contentType: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Reads the files in folders, by name, with the line ends of which browsers take the hash. */
export function filesIn(folders: readonly string[]): ReadonlyMap<string, string> {
  const paths = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  return new Map(paths.map((path) => [basename(path), readFileSync(path, 'utf8').replaceAll('\r\n', '\n')]));
}

/** Templates, scripts and style sheets. */
const FILES = filesIn(['', 'service', 'events'].map((section) => join(__dirname, section, 'templates')));
const textOf = (name: string) => FILES.get(name) ?? '';

/** Compiles a template when it is first used. */
const eta = Object.assign(new Eta({ cache: true }), {
  resolvePath: (name: string) => `${name}.eta`,
  readFile: textOf,
});

/**
 * Returns a function that prepares the pages of a template, `NAME.eta`, with scripts that run in the order given. A page's title precedes
 * the name of the service, and its links are relative to the folder of the endpoint's public URL.
 */
export function pageWriter(contract: Contract, section: 'operations' | 'events', styles: readonly string[]) {
  const style = styles.map(textOf).join('');
  return (template: string, names: readonly string[] = []) => {
    const scripts = names.map(textOf);
    const headers = { 'Content-Security-Policy': contentPolicy(style, scripts) };
    return (title: string | undefined, endpointUrl: string, values: object): HtmlPage => ({
      contentType: 'text/html; charset=utf-8',
      body: eta.render(template, {
        contract,
        section,
        page: template,
        heading: title,
        endpointUrl,
        endpointFile: endpointUrl.slice(endpointUrl.lastIndexOf('/') + 1),
        title: `${title === undefined ? '' : `${title} – `}${contract.serviceName} web service`,
        style,
        scripts,
        version: BUILD.name,
        ...values,
      }),
      headers,
    });
  };
}

/** Allows a page its own style and scripts, by their hashes, and nothing from elsewhere; scripts that fetch may call this service. */
function contentPolicy(style: string, scripts: readonly string[]): string {
  return [
    "default-src 'none'",
    `style-src ${hashSource(style)}`,
    ...(scripts.length > 0 ? [`script-src ${scripts.map(hashSource).join(' ')}`] : []),
    ...(scripts.some((script) => script.includes('fetch(')) ? ["connect-src 'self'"] : []),
    'img-src data:',
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join(';');
}

function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
