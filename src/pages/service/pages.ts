import { join } from 'node:path';
import type { Endpoint } from '../../call/endpoint';
import { shortened } from '../../util/text';
import type { Binding } from '../../config/values';
import type { Parameter } from '../../contract/schema';
import type { SoapBindings } from '../../soap/soap-call';
import { pageWriter, type HtmlPage } from '../page-writer';
import { sampleWriter } from './samples';

/** The HTML pages for a developer who opens the endpoint in a browser. */
export type Pages = Awaited<ReturnType<typeof loadPages>>;

/** Loads the templates and prepares everything that does not depend on the request. */
export async function loadPages({ contract, service, access }: Endpoint, soap: SoapBindings | undefined) {
  const page = pageWriter(contract, 'operations', join(__dirname, 'templates'), ['style.css']);
  const [servicePage, unknownPage] = [page('service', ['copy.js']), page('unknown-operation')];
  const [operationPage, invokingPage] = [page('operation', ['copy.js']), page('operation', ['copy.js', 'invoke.js'])];
  const samples = await sampleWriter(contract, soap);
  const { bindings: on } = contract.protocols;

  return {
    /** Lists the operations and, to callers who may know, says how many events there are. */
    service: (url: string, events: number | undefined): HtmlPage => servicePage(undefined, url, { events }),

    operation(name: string, url: string): HtmlPage | undefined {
      const operation = contract.describe(name);
      if (operation === undefined) return undefined;
      const needed = service[name]?.access ?? 'record';
      const credentials = access.credentials[needed];
      const needsKey = credentials.includes('key');
      // A page cannot sign what it sends, and its form is a call over HTTP POST.
      const canInvoke = on.has('httppost') && (needsKey || credentials.length === 0);
      return (canInvoke ? invokingPage : operationPage)(name, url, {
        operation,
        access: needed,
        credentials,
        /** Whether a call leaves an event in the log. */
        records: needed === 'record',
        needsKey,
        canInvoke,
        isOn: (binding: Binding) => on.has(binding),
        fields: operation.parameters.map(formField),
        samples: samples(operation, needsKey, url),
      });
    },

    /** Says that the service has no operation of this name, and lists those that it has. */
    unknownOperation: (name: string, url: string): HtmlPage =>
      unknownPage('Operation not found', url, { name: shortened(name) }),
  };
}

const STEPS: Readonly<Record<string, string>> = { int: '1', long: '1', decimal: 'any' };

function formField({ name, type, isRequired, documentation }: Parameter) {
  const choices = type.name === 'boolean' ? ['true', 'false'] : undefined;
  return {
    name,
    type: type.name,
    meaning: documentation,
    isRequired,
    choices,
    /** The `step` of a number (HTML, section 4.10.5.3.8). */
    step: STEPS[type.name],
    placeholder: type.name === 'dateTime' ? type.example : '',
  };
}
