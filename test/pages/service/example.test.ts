import { exampleArguments } from '../../../src/pages/service/samples';
import { BUILT_IN } from '../../../src/contract/simple-type';
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

describe('the example of an operation', () => {
  it('has every required parameter, and no optional one beside them', async () => {
    const given = await argumentsFor(
      '<s:element name="a" type="s:int" /><s:element name="b" type="s:string" /><s:element minOccurs="0" name="c" type="s:int" />',
    );
    expect(given).toEqual({ a: '10', b: 'text' });
  });

  it('has the first optional parameter that is no free text where none is required', async () => {
    const given = await argumentsFor(
      '<s:element minOccurs="0" name="a" type="s:string" /><s:element minOccurs="0" name="at" type="s:dateTime" /><s:element minOccurs="0" name="n" type="s:int" />',
    );
    expect(given).toEqual({ at: '2026-01-31T12:00:00Z' });
  });

  it('is any element or field where the operation takes any XML', async () => {
    expect(await argumentsFor('<s:any minOccurs="0" maxOccurs="unbounded" processContents="lax" />')).toEqual({
      order: '17',
    });
  });

  it('is nothing where the operation takes nothing', async () => {
    expect(await argumentsFor('')).toEqual({});
  });
});
