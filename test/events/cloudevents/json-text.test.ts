import * as fc from 'fast-check';
import { JsonText } from '../../../src/events/cloudevents/json-text';
import { anyCharacter } from '../../support/arbitraries';

/** A JSON value with white space wherever JSON allows it. */
const spaced = (value: unknown, space: string): string => {
  const part = (inner: unknown): string => space + spaced(inner, space) + space;
  if (Array.isArray(value)) return `[${value.map(part).join(',') || space}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, inner]) => `${part(name)}:${part(inner)}`);
  return `{${members.join(',') || space}}`;
};

const json = fc.jsonValue({ stringUnit: anyCharacter });
const space = fc.constantFrom('', ' ', '\r\n\t');
const name = fc.oneof(fc.string(), fc.constantFrom('__proto__', '"', '\\', '\\"', '{', ',', ':'));

describe('JSON text', () => {
  it('is split into the members and elements that JSON.parse finds', () => {
    fc.assert(
      fc.property(fc.dictionary(name, json), fc.array(json), space, (object, array, white) => {
        const textOf = (value: unknown) => new JsonText(white + spaced(value, white) + white);
        const members = textOf(object).members() ?? new Map<string, never>();
        expect([...members.keys()]).toEqual(Object.keys(object));
        for (const [key, value] of members) expect(JSON.parse(value)).toEqual(JSON.parse(JSON.stringify(object[key])));
        const elements = textOf(array).elements(1000);
        expect(elements?.map((text): unknown => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(array)));
      }),
    );
  });

  it('has elements without the white space around them', () => {
    expect(new JsonText(' [ 1 ,\t[ 2 ] ] ').elements(1000)).toEqual(['1', '[ 2 ]']);
  });

  it.each([
    ['[[[]]]', 3],
    ['{"a":1,"b":2}', 3],
    ['"[{:"', 3],
    ['[1,2,3]', 1],
  ])('%s has parts in the number of its braces, brackets and colons: %#', (text, count) => {
    expect(new JsonText(text).hasTooManyParts(count)).toBe(false);
    expect(new JsonText(text).hasTooManyParts(count - 1)).toBe(true);
  });

  it('has at most 100,000 parts', () => {
    expect(new JsonText(`[${'[],'.repeat(99_999)}0]`).hasTooManyParts()).toBe(false);
    expect(new JsonText(`[${'[],'.repeat(100_000)}0]`).hasTooManyParts()).toBe(true);
  });
});

describe('a text that is not JSON', () => {
  it.each(['', ' ', '"', '01', '[1,]', '{"a":1,}', '{"a"}', '{a:1}', '[1 2]', '1 2', '[', ']', '{]'])(
    'has no value, no members and no elements: %j',
    (text) => {
      const json = new JsonText(text);
      expect([json.parsed(), json.members(), json.elements(1000)]).toEqual([undefined, undefined, undefined]);
    },
  );
});

it('the end of a long string of escapes is found in one pass', () => {
  const text = JSON.stringify({ a: '\\"{'.repeat(200_000), b: '\\' });
  expect(new JsonText(text).members()?.get('b')).toBe('"\\\\"');
});
