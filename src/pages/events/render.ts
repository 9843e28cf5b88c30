import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Eta } from 'eta';
import { VERSION } from '../../config/package-info';
import type { Contract } from '../../contract/contract';
import { contentPolicy, sourceOf } from '../service/content-policy';
import { loadTemplates } from '../service/load-templates';

/** The pages of the events: their templates are `templates/NAME.eta`. */
export type PageName = 'list' | 'event' | 'rate' | 'refusals' | 'problem';

type Policy = ReturnType<typeof contentPolicy>;

/** Writes the pages. */
export interface Renderer {
  /** Writes a page; its values are those that its template names. */
  page(name: PageName, title: string, endpointUrl: string, values: object): string;
  /** Writes rows of the list alone. */
  rows(values: object): string;
  /** Sets the Content-Security-Policy of a page. */
  readonly policies: Readonly<Record<PageName, Policy>>;
}

const TEMPLATES = ['list', 'rows', 'event', 'rate', 'refusals', 'problem', 'heading'];

/** Loads the templates. The layout, the style and the copy buttons are those of the service pages. */
export function loadRenderer(contract: Contract): Renderer {
  const folder = join(__dirname, 'templates');
  const sharedFolder = join(__dirname, '..', 'service', 'templates');
  const own = (name: string) => readFileSync(join(folder, name), 'utf8');
  const shared = (name: string) => readFileSync(join(sharedFolder, name), 'utf8');
  const style = `${shared('page.css')}${own('events.css')}`;
  const [live, keys, copy] = [own('live.js'), own('keys.js'), shared('copy.js')];
  const scripts: Readonly<Record<PageName, readonly string[]>> = {
    list: [keys, live],
    event: [keys, copy],
    rate: [],
    refusals: [],
    problem: [],
  };
  const eta = new Eta();
  loadTemplates(eta, sharedFolder, ['layout']);
  loadTemplates(eta, folder, TEMPLATES);
  const policyOf = (name: PageName): Policy =>
    contentPolicy({
      style: sourceOf(style),
      scripts: scripts[name].length === 0 ? undefined : scripts[name].map(sourceOf),
      connects: name === 'list',
    });

  return {
    page: (name, title, endpointUrl, values) =>
      eta.render(`@${name}`, {
        contract,
        endpointUrl,
        endpointFile: endpointUrl.slice(endpointUrl.lastIndexOf('/') + 1),
        title: `${title} – ${contract.serviceName} web service`,
        style,
        scripts: scripts[name],
        version: VERSION,
        ...values,
      }),
    rows: (values) => eta.render('@rows', values),
    policies: {
      list: policyOf('list'),
      event: policyOf('event'),
      rate: policyOf('rate'),
      refusals: policyOf('refusals'),
      problem: policyOf('problem'),
    },
  };
}
