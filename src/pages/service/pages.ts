import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Eta } from 'eta';
import type { Access } from '../../config/config';
import { VERSION } from '../../config/package-info';
import type { Proof } from '../../http/auth/access';
import { shortened } from '../../util/text';
import type { Binding } from '../../service/call';
import type { Contract } from '../../contract/contract';
import type { SoapBindings } from '../../soap/soap-call';
import { sourceOf } from './content-policy';
import { formField } from './form-field';
import { loadTemplates } from './load-templates';
import { meantOperation } from './meant-operation';
import { sampleWriter } from './samples';

/** The HTML pages for a developer who opens the endpoint in a browser. */
export interface Pages {
  /** Lists the operations and links to the service description. */
  service(endpointUrl: string): string;
  /** Shows one operation: a form that calls it, and its messages. Undefined if the service has no such operation. */
  operation(name: string, endpointUrl: string): string | undefined;
  /** Says that the service has no operation with this name, and which one was probably meant. */
  unknownOperation(name: string, endpointUrl: string): string;
  /** The style of the pages as a source for a Content-Security-Policy. */
  readonly styleSource: string;
  /** The scripts of an operation's page, likewise; the other pages have none. */
  readonly scriptSources: readonly string[];
}

/** Who may call an operation. */
export interface CallRules {
  /** The access that a caller needs; `record`: the call leaves something in the event log. */
  readonly access: Access;
  /** What proves that a caller may call it, any one of them; empty: everybody may. */
  readonly proofs: readonly Proof[];
}

const TEMPLATES = ['layout', 'service', 'operations', 'operation', 'form', 'samples', 'unknown-operation'];

/**
 * Loads the templates and prepares everything that does not depend on the request.
 *
 * @param rulesOf - says of each operation who may call it.
 */
export async function loadPages(
  contract: Contract,
  soap: SoapBindings | undefined,
  rulesOf: (operation: string) => CallRules,
): Promise<Pages> {
  const folder = join(__dirname, 'templates');
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const [style, copyScript, invokeScript] = [read('page.css'), read('copy.js'), read('invoke.js')];
  const eta = new Eta();
  loadTemplates(eta, folder, TEMPLATES);
  const samples = await sampleWriter(contract, soap);
  const { bindings: offered } = contract.offer;

  const render = (template: string, title: string, endpointUrl: string, values: object): string => {
    // Links are relative to the endpoint's folder, so they work under any address.
    const endpointFile = endpointUrl.slice(endpointUrl.lastIndexOf('/') + 1);
    return eta.render(template, {
      contract,
      endpointUrl,
      endpointFile,
      title,
      style,
      scripts: [],
      version: VERSION,
      ...values,
    });
  };
  return {
    service: (url) => render('@service', `${contract.serviceName} web service`, url, {}),
    operation: (name, url) => {
      const operation = contract.describe(name);
      if (operation === undefined) return undefined;
      const rules = rulesOf(name);
      const needsKey = rules.proofs.includes('key');
      // A page cannot sign what it sends, and its form is a call over HTTP POST.
      const canInvoke = offered.has('httppost') && (needsKey || rules.proofs.length === 0);
      return render('@operation', `${name} – ${contract.serviceName} web service`, url, {
        operation,
        rules,
        records: rules.access === 'record',
        needsKey,
        canInvoke,
        offers: (binding: Binding) => offered.has(binding),
        fields: operation.parameters.map(formField),
        samples: samples(operation, needsKey, url),
        scripts: canInvoke ? [copyScript, invokeScript] : [copyScript],
      });
    },
    unknownOperation: (name, url) =>
      render('@unknown-operation', `Operation not found – ${contract.serviceName} web service`, url, {
        name: shortened(name),
        meant: meantOperation(
          name,
          contract.operations.map((operation) => operation.name),
        ),
      }),
    styleSource: sourceOf(style),
    scriptSources: [sourceOf(copyScript), sourceOf(invokeScript)],
  };
}
