import { join } from 'node:path';
import { inspect } from 'node:util';
import { xmlText } from '../../src/xml/characters';
import type { Operation, Service } from '../../src/service/call';
import { requestOf, type BindingName } from './bindings';
import type { Question } from './http';

/** The WSDLs of a service with three more operations, which take parameters. */
export const WSDL_FOLDER = join(__dirname, '..', 'fixtures', 'parameters');

/** Returns what it was given, as code that shows the types: `17`, `'17'` and `17n` are an int, a string and a long. */
const echo: Operation = {
  access: 'open',
  run: (_call, parameters) => Promise.resolve(inspect({ ...parameters }, { breakLength: Infinity })),
};

/** The service object of those WSDLs. */
export const SERVICE: Service = {
  RecordEvent: echo,
  GetEvents: echo,
  HelloWorld: echo,
  Add: {
    access: 'open',
    run: (_call, { a, b }) => Promise.resolve(String(Number(a) + Number(b))),
  },
  Remind: echo,
  Order: echo,
};

/** The arguments of a call, in order; a name may occur more than once. */
export type Given = readonly (readonly [name: string, text: string])[];

/** The request of an operation with these arguments, as a generated client or a browser sends it. */
export function requestWith(
  binding: BindingName,
  operation: string,
  given: Given,
): Question & { readonly path: string } {
  switch (binding) {
    case 'soap11':
    case 'soap12':
      return requestOf(binding, operation, given.map(([name, text]) => `<${name}>${xmlText(text)}</${name}>`).join(''));
    case 'httpget':
      return { path: `/${operation}?${formOf(given)}` };
    case 'httppost':
      return { ...requestOf(binding, operation), body: formOf(given) };
  }
}

function formOf(given: Given): string {
  return new URLSearchParams(given.map(([name, text]): [string, string] => [name, text])).toString();
}
