import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Eta } from 'eta';
import { VERSION } from '../../config/package-info';
import type { Contract } from '../contract';
import type { SoapBindings } from '../soap/soap-exchange';
import { sampleWriter } from './samples';

/** The HTML pages for a developer who opens the endpoint in a browser. */
export interface Pages {
  /** Lists the operations and links to the service description. */
  service(endpointUrl: string): string;
  /** Shows one operation: a form that calls it, and its messages. Undefined if the service has no such operation. */
  operation(name: string, endpointUrl: string): string | undefined;
  /** Says that the service has no operation with this name. */
  unknownOperation(name: string, endpointUrl: string): string;
  /** The style and the script of the pages as sources for a Content-Security-Policy. */
  readonly styleSource: string;
  readonly scriptSource: string;
}

/** Loads the templates and prepares everything that does not depend on the request. */
export async function loadPages(contract: Contract, soap: SoapBindings): Promise<Pages> {
  const read = (name: string) => readFile(join(__dirname, 'templates', name), 'utf8');
  const [style, script] = await Promise.all([read('page.css'), read('page.js')]);
  const eta = new Eta();
  for (const name of ['layout', 'service', 'operation', 'unknown-operation'])
    eta.loadTemplate(`@${name}`, await read(`${name}.eta`));
  const samples = await sampleWriter(contract, soap);

  const render = (template: string, title: string, endpointUrl: string, values: object): string => {
    // Links are relative to the endpoint's folder, so they work under any address.
    const endpointFile = endpointUrl.slice(endpointUrl.lastIndexOf('/') + 1);
    return eta.render(template, {
      contract,
      endpointUrl,
      endpointFile,
      title,
      style,
      script,
      version: VERSION,
      ...values,
    });
  };
  return {
    service: (url) => render('@service', `${contract.serviceName} web service`, url, {}),
    operation: (name, url) => {
      const operation = contract.operations.find((candidate) => candidate.name === name);
      if (operation === undefined) return undefined;
      const title = `${name} – ${contract.serviceName} web service`;
      return render('@operation', title, url, { operation, samples: samples(name, url) });
    },
    unknownOperation: (name, url) =>
      render('@unknown-operation', `Operation not found – ${contract.serviceName} web service`, url, { name }),
    styleSource: sourceOf(style),
    scriptSource: sourceOf(script),
  };
}

function sourceOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
