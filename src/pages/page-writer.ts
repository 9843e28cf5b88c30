import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Eta } from 'eta';
import helmet from 'helmet';
import { BUILD } from '../config/package-info';
import type { Contract } from '../contract/contract';

/** Sets the security headers of all documents. Each page adds a Content-Security-Policy, which depends on its scripts. */
export const SECURITY_HEADERS = helmet({
  contentSecurityPolicy: false,
  // Whether a host may be reached over plain HTTP is for the operator to decide.
  strictTransportSecurity: false,
  // With `no-referrer` the forms of the pages would send `Origin: null`.
  referrerPolicy: { policy: 'same-origin' },
});

/** A page, and the header fields that it needs. */
export interface HtmlPage {
  readonly contentType: string;
  readonly body: string;
  readonly headers: Readonly<Record<'Content-Security-Policy', string>>;
}

/**
 * Writes a page.
 *
 * @param title - precedes the name of the service.
 * @param endpointUrl - the public URL of the endpoint. Links are relative to its folder, so they work under any address.
 * @param values - those of the template.
 */
export type WritePage<Values> = (title: string | undefined, endpointUrl: string, values: Values) => HtmlPage;

/** The entry of the navigation to which the pages belong. */
type Section = 'operations' | 'events';

/** The content type of the pages. */
export const HTML = 'text/html; charset=utf-8';

const SHARED = join(__dirname, 'templates');

/**
 * Writes pages from the templates of a folder, in the layout that all pages share. `Templates` has the type of the values of
 * each template, by its name.
 */
export class PageWriter<Templates extends Readonly<Record<string, object>>> {
  readonly #contract: Contract;
  readonly #section: Section;
  readonly #folder: string;
  readonly #eta = new Eta();
  readonly #style: string;

  constructor(contract: Contract, section: Section, folder: string, styles: readonly string[]) {
    this.#contract = contract;
    this.#section = section;
    this.#folder = folder;
    // Comments and white space are for those who edit the sheets.
    const style = styles.map((name) => this.#text(name).replace(/\/\*[^]*?\*\/|\s+/g, ' ')).join('');
    this.#style = style.replace(/ *([{};,]) */g, '$1');
    for (const one of [SHARED, folder]) this.#loadTemplates(one);
  }

  /**
   * Prepares the pages of one template, `NAME.eta`.
   *
   * @param scripts - names of files, run in this order.
   * @param options - `connects`: whether the scripts call this service.
   */
  page<Name extends keyof Templates & string>(
    template: Name,
    scripts: readonly string[] = [],
    { connects = false } = {},
  ): WritePage<Templates[Name]> {
    const { serviceName } = this.#contract;
    const texts = scripts.map((script) => this.#text(script));
    const headers = { 'Content-Security-Policy': contentPolicy(this.#style, texts, connects) };
    return (title, endpointUrl, values) => ({
      contentType: HTML,
      body: this.#eta.render(`@${template}`, {
        contract: this.#contract,
        section: this.#section,
        page: template,
        heading: title,
        endpointUrl,
        endpointFile: endpointUrl.slice(endpointUrl.lastIndexOf('/') + 1),
        title: `${title === undefined ? '' : `${title} – `}${serviceName} web service`,
        style: this.#style,
        scripts: texts,
        version: BUILD,
        ...values,
      }),
      headers,
    });
  }

  /** Writes a part of a page, without the layout. */
  part<Name extends keyof Templates & string>(template: Name, values: Templates[Name]): string {
    return this.#eta.render(`@${template}`, values);
  }

  /** Loads each `NAME.eta` as `@NAME`. */
  #loadTemplates(folder: string): void {
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.eta'))) {
      this.#eta.loadTemplate(`@${file.slice(0, -'.eta'.length)}`, readFileSync(join(folder, file), 'utf8'));
    }
  }

  /** A style sheet or script: the folder's own, or the shared one of that name. */
  #text(name: string): string {
    const own = join(this.#folder, name);
    return readFileSync(existsSync(own) ? own : join(SHARED, name), 'utf8');
  }
}

/** Allows a page its own style and scripts, by their hashes, and nothing from elsewhere. */
function contentPolicy(style: string, scripts: readonly string[], connects: boolean): string {
  const directives = [
    "default-src 'none'",
    `style-src ${hashSource(style)}`,
    ...(scripts.length > 0 ? [`script-src ${scripts.map(hashSource).join(' ')}`] : []),
    ...(connects ? ["connect-src 'self'"] : []),
    'img-src data:',
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return directives.join(';');
}

function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
