import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { Contract } from '../../src/contract/contract';
import type { Operation, Service } from '../../src/service/call';
import { NAMESPACE } from './bindings';

/** The parameters of operations: name and type; those that end with `?` are optional. */
export type Parameters = Readonly<Record<string, readonly string[]>>;

/** Three operations beside those of the service. */
export const OPERATIONS: Parameters = {
  Add: ['a s:int', 'b s:int'],
  Remind: ['person s:string?', 'at s:string'],
  Order: ['article s:string', 'size s:string?', 'quantity s:int?', 'note s:string?'],
};

/** The contract of the service with more operations. */
export async function contractWith(operations: Parameters): Promise<Contract> {
  const folder = mkdtempSync(join(tmpdir(), 'webhook-wsdl-'));
  try {
    for (const file of ['WebHooks.wsdl', 'WebHooks.extended.wsdl'])
      writeFileSync(join(folder, file), wsdlWith(operations, file));
    return await Contract.load(NAMESPACE, undefined, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A WSDL in which each part about HelloWorld is followed by the same about more operations. */
export function wsdlWith(operations: Parameters, file: string): string {
  const wsdl = readFileSync(join(__dirname, '..', '..', 'wsdl', file), 'utf8');
  const part = /<(wsdl:message|wsdl:operation|s:element) name="HelloWorld\w*"(?: \/>|>.*?<\/\1>)/gs;
  return wsdl.replace(part, (text) =>
    [text, ...Object.entries(operations).map(([name, parameters]) => made(text, name, parameters))].join(''),
  );
}

/** A part about HelloWorld, made for another operation. */
function made(part: string, operation: string, given: readonly string[]): string {
  const parameters = given.map((text) => {
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

/** Returns what it was given, as code that shows the types: `17` is an int, `'17'` a string. */
const echo: Operation = {
  access: 'open',
  run: (_call, parameters) => Promise.resolve(inspect({ ...parameters }, { breakLength: Infinity })),
};

/** The service object of {@link OPERATIONS}. */
export const ECHO_SERVICE: Service = {
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
