import { dataMember, EventData, xmlSafe } from '../../src/events/payload';

/** Longer texts that would be mostly escapes are kept as bytes. */
const PART = 256 * 1024;

describe('the data member', () => {
  it.each<[string, Parameters<typeof dataMember>[0], string]>([
    ['bytes', { mediaType: undefined, bytes: Buffer.from([0, 255]) }, '"data_base64":"AP8="'],
    ['JSON', { mediaType: undefined, json: '{\t"a":\r\n1.0}' }, '"data":{ "a":  1.0}'],
    ['text', { mediaType: undefined, text: 'a"b\n\uFFFE\uFFFF' }, '"data":"a\\"b\\n\\ufffe\\uffff"'],
  ])('of %s', (_form, payload, member) => {
    expect(dataMember(payload)).toBe(member);
  });

  const short = '\u0001'.repeat(PART);
  const long = `${short}\u0001`;
  /** Whether a text is written as bytes. */
  const isBase64 = (text: string): boolean => {
    const member = dataMember({ mediaType: undefined, text });
    const asBytes = `"data_base64":"${Buffer.from(text).toString('base64')}"`;
    const asText = `"data":"${JSON.stringify(text).slice(1, -1)}"`;
    expect([asBytes, asText].some((expected) => expected === member)).toBe(true);
    return member === asBytes;
  };

  it('of a text over 256 KiB is base64 where a string would take more than 1.4 times the bytes', () => {
    expect(isBase64(short)).toBe(false);
    expect(isBase64(long)).toBe(true);
    // With 600,000 characters, base64 takes 800,000 bytes and a string up to 1,120,000: 104,000 escapes of 5 more.
    const text = (escapes: number) => '\u0001'.repeat(escapes) + 'x'.repeat(600_000 - escapes);
    expect(isBase64(text(104_000))).toBe(false);
    expect(isBase64(text(104_001))).toBe(true);
  });

  it('of a large text with a lone surrogate is a string, since bytes could not hold it', () => {
    const text = `\uD800${long}`;
    expect(dataMember({ mediaType: undefined, text })).toBe(`"data":"\\ud800${'\\u0001'.repeat(PART + 1)}"`);
  });
});

describe('JSON text made safe for XML', () => {
  it.each([
    ['{"a":"é\u{1F600}\u0085"}', '{"a":"é\u{1F600}\u0085"}'],
    ['[\t1,\r\n2]', '[ 1,  2]'],
    ['"\uFFFE\uFFFF\uFFFD"', '"\\ufffe\\uffff\uFFFD"'],
    ['"\uFFFF"', '"\\uffff"'],
    ['"\uDC00\uD800\u{1F600}"', '"\\udc00\\ud800\u{1F600}"'],
    ['"\uDFFF\t"', '"\\udfff "'],
  ])('%j is %j', (json, safe) => {
    expect(xmlSafe(json)).toBe(safe);
  });
});

describe('the beginning of the data of an event', () => {
  it('is cut between characters, whatever their escapes', () => {
    const encoded = JSON.stringify('\u0001\\"😀'.repeat(20)).slice(1, -1);
    const whole = JSON.parse(`"${encoded}"`) as string;
    for (let length = 10; length < encoded.length; length++) {
      const start = new EventData(`"data":"${encoded}"`).textStart(length);
      expect(whole.startsWith(start)).toBe(true);
      expect(start).not.toMatch(/[\uD800-\uDBFF]$/);
    }
  });
});
