import { BUILT_IN, NO_VALUES, OperationInput, type Parameter } from '../../src/contract/schema';
import { CallError } from '../../src/service/call';

const parameter = (name: string, more: Partial<Parameter> = {}): Parameter => ({
  name,
  type: BUILT_IN.string,
  isRequired: false,
  documentation: '',
  ...more,
});

const values = (described: Partial<Parameter>, ...texts: string[]) =>
  new OperationInput([parameter('p', described)], false).values(() => texts);

describe('the values of the parameters', () => {
  it('are of their types', () => {
    expect(values({}, 'a')).toEqual({ p: 'a' });
    expect(values({})).toEqual({ p: undefined });
    expect(values({ type: BUILT_IN.int }, '1')).toEqual({ p: 1 });
    expect(values({ isRequired: true }, '')).toEqual({ p: '' });
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('may be called %s', (name) => {
    const read = new OperationInput([parameter(name)], false).values(() => ['x']);
    expect(Object.entries(read)).toEqual([[name, 'x']]);
    expect(read[name]).toBe('x');
    expect(new OperationInput([parameter(name)], false).values(() => [])[name]).toBeUndefined();
    expect(NO_VALUES[name]).toBeUndefined();
  });

  it.each<[string, Partial<Parameter>, string[]]>([
    ['Missing parameter: p.', { isRequired: true }, []],
    ['The parameter p must be given once.', {}, ['a', 'b']],
    ['The parameter p must be valid Unicode text; in a URL, percent-encoded UTF-8.', {}, ['\uD800']],
    [
      `Cannot convert ${'x'.repeat(200)}… to System.Int64.\nParameter name: p ---> Input string was not in a correct format.`,
      { type: BUILT_IN.long },
      ['x'.repeat(1_000_000)],
    ],
  ])('are refused with: %s', (message, described, texts) => {
    expect(() => values(described, ...texts)).toThrow(new CallError(message));
  });
});
