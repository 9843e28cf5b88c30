import { encode } from 'iconv-lite';
import { readParameters, type ParametersMessage } from '../../src/get-post/http-parameters';
import { HTTP_ERRORS } from '../../src/http/errors';
import { CallError } from '../../src/service/call';

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';
const MANY = `${'a&'.repeat(10_000)}b=1`;

type Input = Omit<ParametersMessage, 'parameters'>;

function inputOf(query: string, type?: string, body: string | Buffer = ''): Input {
  return { query, headers: type === undefined ? {} : { 'content-type': type }, body: Buffer.from(body) };
}

/** The texts that a request gives for parameters of these names. */
function textsOf(input: Input, names: readonly string[], isRequired = false): Record<string, readonly string[]> {
  return Object.fromEntries(readParameters({ ...input, parameters: names.map((name) => ({ name, isRequired })) }));
}

describe('parameters over GET and POST are', () => {
  it.each<[string, Input, Record<string, string[]>]>([
    ['the fields of the query', inputOf('a=1&b=%C3%A9&c='), { a: ['1'], b: ['é'], c: [''] }],
    ['repeated fields', inputOf('a=1&b=2&a=3'), { a: ['1', '3'], b: ['2'] }],
    ['the fields of a form', inputOf('', FORM, 'a=1&a=2'), { a: ['1', '2'] }],
    [
      'those of a form rather than of the query',
      inputOf('a=0&a=1&b=2', FORM, 'a=3&c=4'),
      { a: ['3'], b: ['2'], c: ['4'] },
    ],
    ['fields of a form in its character set', inputOf('', `${FORM}; charset=iso-8859-1`, 'a=%E9'), { a: ['é'] }],
    ['a query in UTF-8 beside another form', inputOf('b=%C3%A9', `${FORM}; charset=iso-8859-1`, 'a=%E9'), { b: ['é'] }],
    ['the query beside another body', inputOf('a=1', 'text/plain', 'a=2'), { a: ['1'] }],
    ['marked where they are not text', inputOf('a=%FF&b=1'), { a: ['\uD800'], b: ['1'] }],
    ['the members of a JSON object', inputOf('', JSON_TYPE, '{"a":"1","b":" x "}'), { a: ['1'], b: [' x '] }],
    ['those of JSON rather than of the query', inputOf('a=0&b=2', JSON_TYPE, '{"a":1}'), { a: ['1'], b: ['2'] }],
    [
      'JSON in its character set',
      inputOf('', `${JSON_TYPE}; charset=utf-16le`, encode('{"a":"é"}', 'utf-16le')),
      { a: ['é'] },
    ],
    ['JSON that is called a form', inputOf('b=1', FORM, ' {"a":"&a=2&"}\n'), { a: ['&a=2&'], b: ['1'] }],
    ['the query beside an empty body', inputOf('a=1', JSON_TYPE, ''), { a: ['1'] }],
  ])('%s', (_what, input, texts) => {
    expect(textsOf(input, Object.keys(texts))).toEqual(texts);
  });

  it.each([
    ['[1, 2,3]', ['1', '2']],
    ['["a", "b\\n\\"", null, true]', ['a', 'b\n"']],
    ['[]', []],
    ['null', []],
    ['12345678901234567890.10', ['12345678901234567890.10']],
    ['false', ['false']],
    ['"\\ud83d\\ude00"', ['😀']],
    ['""', ['']],
  ])('of the JSON value %s the texts %j', (value, texts) => {
    const body = `{ "b": [{"a": 1}], "a" : ${value} }`;
    expect(textsOf(inputOf('a=0', JSON_TYPE, body), ['a'])).toEqual({ a: texts });
  });

  it('not given where a form leaves an optional one empty', () => {
    expect(textsOf(inputOf('', FORM, 'a=&b=+&c=x&c='), ['a', 'b', 'c'])).toEqual({ a: [], b: [' '], c: ['x'] });
    expect(textsOf(inputOf('a=1', FORM, 'a='), ['a'])).toEqual({ a: ['1'] });
    expect(textsOf(inputOf('', FORM, 'a=&c=x&c='), ['a', 'c'], true)).toEqual({ a: [''], c: ['x', ''] });
  });

  it.each([
    inputOf('toString=a&__proto__=b&constructor=c'),
    inputOf('', FORM, 'toString=a&__proto__=b&constructor=c'),
    inputOf('', JSON_TYPE, '{"toString":"a","__proto__":"b","constructor":"c"}'),
  ])('read also where JavaScript knows their name (%#)', (input) => {
    const texts = textsOf(input, ['toString', '__proto__', 'constructor']);
    expect(Object.values(texts)).toEqual([['a'], ['b'], ['c']]);
  });
});

describe('parameters over GET and POST are refused', () => {
  it.each([inputOf(MANY), inputOf('', FORM, MANY)])('if there are too many fields (%#)', (input) => {
    expect(() => textsOf(input, [])).toThrow(HTTP_ERRORS.tooManyFields());
  });

  it.each([
    ...['[]', '"a"', '17', 'null', '{', 'a=1', '{"a":1,}', Buffer.from('{"a":"\xff"}', 'latin1')].map((body) =>
      inputOf('', JSON_TYPE, body),
    ),
    inputOf('', FORM, '[1]'),
  ])('if a body of JSON is not an object (%#)', (input) => {
    expect(() => textsOf(input, [])).toThrow(HTTP_ERRORS.notAnObject());
  });

  it('if the JSON has too many parts', () => {
    const body = `{"a":[${'[],'.repeat(100_000)}0]}`;
    expect(() => textsOf(inputOf('', JSON_TYPE, body), [])).toThrow(HTTP_ERRORS.tooManyJsonParts());
  });

  it.each(['{}', '{"b":1}', '[[]]', '[1,{}]'])('if the value of one is %s', (value) => {
    expect(() => textsOf(inputOf('', JSON_TYPE, `{"a":${value}}`), ['a'])).toThrow(
      CallError.mustBe('a', 'a string, a number, true or false, or an array of these'),
    );
  });
});
