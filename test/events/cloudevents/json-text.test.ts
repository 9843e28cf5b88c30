import * as fc from 'fast-check';
import { JsonText } from '../../../src/events/cloudevents/json-text';
import { anyCharacter } from '../../support/arbitraries';
import { atOnce } from '../../../src/util/promises';

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
  it('is split into the members that JSON.parse finds', () => {
    fc.assert(
      fc.property(fc.dictionary(name, json), space, (object, white) => {
        const members = new JsonText(white + spaced(object, white) + white).membersAtOnce();
        expect([...members.keys()]).toEqual(Object.keys(object));
        for (const [key, { text, value }] of members) {
          expect(JSON.parse(value)).toEqual(JSON.parse(JSON.stringify(object[key])));
          expect(Object.keys(JSON.parse(`{${text}}`) as object)).toEqual([key]);
        }
      }),
    );
  });

  it('is split into the elements that JSON.parse finds', () => {
    fc.assert(
      fc.property(fc.array(json), space, (array, white) => {
        const elements = atOnce(new JsonText(white + spaced(array, white) + white).elements());
        expect(elements?.map((text): unknown => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(array)));
      }),
    );
  });

  it('has the last of two members of one name', () => {
    expect(new JsonText('{"a":1,"b":2, "\\u0061" : 3 }').membersAtOnce().get('a')).toEqual({
      text: ' "\\u0061" : 3 ',
      value: ' 3 ',
    });
  });

  it('has elements without the white space around them', () => {
    expect(atOnce(new JsonText(' [ 1 ,\t[ 2 ] ] ').elements())).toEqual(['1', '[ 2 ]']);
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

describe('whether a text is JSON', () => {
  const isParsed = (text: string): boolean => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };

  it('is said as JSON.parse says it, also of texts with one character changed, missing or too many', () => {
    const characters = fc.constantFrom(...'{}[]:,"\\ \n\t\u0001\u00a0eE+-.0129tfnu/é\u{1F600}');
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.option(characters), fc.boolean(), (text, place, character, replaces) => {
        const at = place % (text.length + 1);
        const changed = text.slice(0, at) + (character ?? '') + text.slice(at + Number(replaces));
        for (const one of [text, ` ${text}\n`, changed])
          expect([one, atOnce(new JsonText(one).isJson())]).toEqual([one, isParsed(one)]);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    '',
    ' ',
    '"',
    '"\\u12"',
    '01',
    '1.',
    '-',
    '[1,]',
    '{"a":1,}',
    '{"a"}',
    '{a:1}',
    '[1 2]',
    '1 2',
    '[',
    ']',
    '{]',
  ])('is not: %j', (text) => {
    expect(atOnce(new JsonText(text).isJson())).toBe(false);
  });

  it('is told of long texts too', () => {
    for (const text of [
      `"${'x\\n'.repeat(100_000)}"`,
      `[${'1,'.repeat(100_000)}1]`,
      '['.repeat(50_000) + ']'.repeat(50_000),
      `[${' '.repeat(100_000)}1${'\r\n'.repeat(4096)}]`,
    ])
      expect([atOnce(new JsonText(text).isJson()), atOnce(new JsonText(text.slice(0, -1)).isJson())]).toEqual([
        true,
        false,
      ]);
  });
});

describe('a JSON text that takes long to parse', () => {
  const valueOf = (text: string): unknown => atOnce(new JsonText(text).parsed())?.value;
  const long = 'x'.repeat(1024 * 1024);

  it('stands for its members with short values, as far as is known', () => {
    expect(valueOf(`{"id":"evt_1","long":"${long}","type":"a\u0062","n":{"a":[1]}}`)).toEqual({
      id: 'evt_1',
      type: 'ab',
      n: { a: [1] },
    });
    expect(valueOf(`{"id":"evt_1","n":[${'1,'.repeat(100_000)}1]}`)).toEqual({ id: 'evt_1' });
    expect(valueOf(`["${long}"]`)).toBeUndefined();
    expect(atOnce(new JsonText(`["${long}"]`).parsed())).toEqual({ json: `["${long}"]` });
  });

  it.each([
    ['a string', `"${long}"`],
    ['escapes', `"${'\\u0041'.repeat(200_000)}"`],
    ['white space', `[${' '.repeat(1024 * 1024)}]`],
    ['numbers', `[${'1,'.repeat(512 * 1024)}1]`],
  ])('is read in many steps: %s', (_what, text) => {
    const steps = new JsonText(text).parsed();
    let count = 0;
    while (steps.next().done !== true) count++;
    expect(count).toBeGreaterThan(200);
  });
});
