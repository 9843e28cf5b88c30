import { join } from 'node:path';
import type { Access, Credential } from '../../access/credentials';
import type { Endpoint } from '../../call/endpoint';
import { shortened } from '../../util/text';
import type { Binding } from '../../config/bindings';
import type { ContractOperation } from '../../contract/contract';
import type { Parameter } from '../../contract/schema';
import type { SoapBindings } from '../../soap/soap-call';
import { PageWriter, type HtmlPage } from '../page-writer';
import { sampleWriter, type Sample } from './samples';

/** The HTML pages for a developer who opens the endpoint in a browser. */
export type Pages = Awaited<ReturnType<typeof loadPages>>;

/** The values of each template. */
type Templates = {
  /** `events`: how many there are, for callers who may know. */
  readonly service: { readonly events: number | undefined };
  readonly operation: OperationView;
  readonly 'unknown-operation': { readonly name: string };
};

interface OperationView {
  readonly operation: ContractOperation;
  /** The access that a caller needs. A call that needs `record` leaves an event in the log. */
  readonly access: Access;
  readonly credentials: readonly Credential[];
  readonly records: boolean;
  readonly needsKey: boolean;
  /** Whether the page has a form that calls the operation. */
  readonly canInvoke: boolean;
  isOn(this: void, binding: Binding): boolean;
  readonly fields: readonly ReturnType<typeof formField>[];
  readonly samples: readonly Sample[];
}

/** Loads the templates and prepares everything that does not depend on the request. */
export async function loadPages({ contract, service, access }: Endpoint, soap: SoapBindings | undefined) {
  const writer = new PageWriter<Templates>(contract, 'operations', join(__dirname, 'templates'), ['style.css']);
  const [servicePage, unknownPage] = [writer.page('service', ['copy.js']), writer.page('unknown-operation')];
  const operationPage = writer.page('operation', ['copy.js']);
  const invokingPage = writer.page('operation', ['copy.js', 'invoke.js'], { connects: true });
  const samples = await sampleWriter(contract, soap);
  const { bindings: on } = contract.protocols;

  return {
    /** Lists the operations and links to the service description. */
    service: (url: string, events: number | undefined): HtmlPage => servicePage(undefined, url, { events }),

    /** Shows one operation: a form that calls it, and its messages. */
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

const STEPS: ReadonlyMap<string, '1' | 'any'> = new Map([
  ['int', '1'],
  ['long', '1'],
  ['decimal', 'any'],
]);

/** Chooses the field of a form for a parameter by its type. */
function formField({ name, type, isRequired, documentation }: Parameter) {
  const choices = type.choices ?? (type.name === 'boolean' ? ['true', 'false'] : undefined);
  return {
    name,
    type: type.name,
    meaning: documentation,
    isRequired,
    /** The values to choose from, if not every text is allowed. */
    choices,
    /** The `step` of a number (HTML, section 4.10.5.3.8). */
    step: choices === undefined ? STEPS.get(type.name) : undefined,
    /** An example, if the name of the type does not show one. */
    placeholder: type.name === 'dateTime' ? type.example : '',
  };
}
