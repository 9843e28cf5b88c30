import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { xmlText } from '../../src/xml/characters';
import type { Operation, Service } from '../../src/service/call';
import { requestOf, type BindingName } from './bindings';
import type { Question } from './http';

/** The parameters of three more operations: name and type; those that end with `?` are optional. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  Add: ['a s:int', 'b s:int'],
  Remind: ['person s:string?', 'at s:dateTime'],
  Order: [
    'article s:string',
    'size s:string?',
    'quantity s:int?',
    'note s:string?',
    'price s:decimal?',
    'gift s:boolean?',
    'customer s:long?',
  ],
};

/** The WSDLs of the service with these operations. */
export const WSDL_FOLDER = mkdtempSync(join(tmpdir(), 'webhook-wsdl-'));
for (const file of ['WebHooks.wsdl', 'WebHooks.extended.wsdl'])
  writeFileSync(join(WSDL_FOLDER, file), extended(readFileSync(join(__dirname, '..', '..', 'wsdl', file), 'utf8')));
afterAll(() => {
  rmSync(WSDL_FOLDER, { recursive: true });
});

/** A WSDL in which each part about HelloWorld is followed by the same about the other operations. */
function extended(wsdl: string): string {
  const part = /<(wsdl:message|wsdl:operation|s:element) name="HelloWorld\w*"(?: \/>|>.*?<\/\1>)/gs;
  return wsdl.replace(part, (text) => [text, ...Object.keys(PARAMETERS).map((name) => made(text, name))].join(''));
}

/** A part about HelloWorld, made for another operation. */
function made(part: string, operation: string): string {
  const parameters = (PARAMETERS[operation] ?? []).map((text) => {
    const [, name = '', type = '', optional = ''] = /^(\w+) ([\w:]+)(\??)$/.exec(text) ?? [];
    return { name, type, least: optional === '' ? '1' : '0' };
  });
  const elements = parameters.map(
    ({ name, type, least }) => `<s:element minOccurs="${least}" maxOccurs="1" name="${name}" type="${type}" />`,
  );
  const parts = parameters.map(({ name }) => `<wsdl:part name="${name}" type="s:string" />`);
  return part
    .replaceAll('HelloWorld', operation)
    .replace('<s:complexType />', `<s:complexType><s:sequence>${elements.join('')}</s:sequence></s:complexType>`)
    .replace(/(<wsdl:message name="\w+Http\w+In") \/>/, `$1>${parts.join('')}</wsdl:message>`);
}

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
