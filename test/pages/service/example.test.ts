import { exampleArguments } from '../../../src/pages/service/samples';
import { BUILT_IN } from '../../../src/contract/schema';
import { contractWhereHelloWorldTakes } from '../../support/contract';

/** The arguments of the samples of an operation with these parameters. */
async function argumentsFor(sequence: string) {
  const operation = (await contractWhereHelloWorldTakes(sequence)).describe('HelloWorld');
  if (operation === undefined) throw new Error('the contract has no HelloWorld');
  const given = exampleArguments(operation);
  // The operation accepts them.
  operation.values(({ name }) => [given.get(name)].filter((text) => text !== undefined));
  return Object.fromEntries(given);
}

describe('the example of a type', () => {
  it.each(Object.values(BUILT_IN))('$name is a value of it', (type) => {
    expect(() => type.read(type.example)).not.toThrow();
  });
});

it.each<[string, string, object]>([
  [
    'every required parameter, and no optional one beside them',
    '<s:element name="a" type="s:int" /><s:element name="b" type="s:string" /><s:element minOccurs="0" name="c" type="s:int" />',
    { a: '10', b: 'text' },
  ],
  [
    'the first optional parameter that is no free text, if none is required',
    '<s:element minOccurs="0" name="a" type="s:string" /><s:element minOccurs="0" name="at" type="s:dateTime" />',
    { at: '2026-01-31T12:00:00Z' },
  ],
  [
    'any element or field, if the operation takes any XML',
    '<s:any minOccurs="0" maxOccurs="unbounded" processContents="lax" />',
    { order: '17' },
  ],
  ['nothing, if the operation takes nothing', '', {}],
])('the example of an operation has %s', async (_what, sequence, given) => {
  expect(await argumentsFor(sequence)).toEqual(given);
});
