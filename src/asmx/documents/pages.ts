import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Eta } from 'eta';
import type { Contract } from './contract';
import { sampleWriter } from './samples';

/** The pages for a developer who opens the endpoint in a browser. */
export interface Pages {
  /** The operations of the service and where its description is. */
  service(endpointUrl: string): string;
  /** One operation: a form that calls it, and its messages. Undefined: there is no such operation. */
  operation(name: string, endpointUrl: string): string | undefined;
  /** Says that there is no operation of this name. */
  unknownOperation(name: string, endpointUrl: string): string;
  /** Sources that the style and the script of the pages have in a Content-Security-Policy. */
  readonly styleSource: string;
  readonly scriptSource: string;
}

/** Loads the templates of the pages and makes what does not depend on the request. */
export async function loadPages(contract: Contract): Promise<Pages> {
  const file = (name: string) => readFile(join(__dirname, 'pages', name), 'utf8');
  const [style, script] = await Promise.all([file('page.css'), file('page.js')]);
  const eta = new Eta();
  for (const name of ['layout', 'service', 'operation', 'unknown'])
    eta.loadTemplate(`@${name}`, await file(`${name}.eta`));
  const samples = await sampleWriter(contract);

  const render = (template: string, title: string, endpointUrl: string, values: object): string => {
    // Links are relative to the endpoint's folder, so that they hold under any address.
    const name = endpointUrl.slice(endpointUrl.lastIndexOf('/') + 1);
    return eta.render(template, { contract, endpointUrl, file: name, title, style, script, ...values });
  };
  return {
    service: (url) => render('@service', `${contract.serviceName} web service`, url, {}),
    operation: (name, url) => {
      const operation = contract.operations.find((candidate) => candidate.name === name);
      if (operation === undefined) return undefined;
      const title = `${name} – ${contract.serviceName} web service`;
      return render('@operation', title, url, { operation, samples: samples(name, url) });
    },
    unknownOperation: (name, url) => render('@unknown', `No such operation – ${contract.serviceName}`, url, { name }),
    styleSource: source(style),
    scriptSource: source(script),
  };
}

function source(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
