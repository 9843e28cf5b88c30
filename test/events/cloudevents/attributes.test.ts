import { senderAttributes, traceAttributes, withoutReservedNames } from '../../../src/events/cloudevents/attributes';

const REQUIRED = { specversion: '1.0', id: 'e-1', source: '/orders', type: 'order.placed' };

describe('the attributes of a CloudEvent', () => {
  const each = (attributes: Readonly<Record<string, readonly string[]>>) =>
    Object.entries(attributes).flatMap(([name, values]) => values.map((value) => [name, value] as const));

  it.each(
    each({
      source: [
        ...['/a?b=c/?#d/?', 'urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66', './a:b', '//[::1]:'],
        'http://user:pass@[2001:db8::1]:80/%C3%A4;p=1,2',
      ],
      dataschema: ['https://example.com/schema.json#/definitions/order'],
      datacontenttype: [
        'text/plain; charset="utf-8"; a=b;',
        'application/vnd.x+json;profile="a\\"b; c" ; charset=\'utf-8\'',
        'a/b;c="";;d=\'e\'',
      ],
      subject: ['\u{1F600}'],
    }),
  )('may have the %s %j', (name, value) => {
    expect(senderAttributes({ ...REQUIRED, [name]: value })).toMatchObject({ [name]: value });
  });

  it.each(
    each({
      source: ['a##b', 'http://[::1', 'http://host:port/', '/%4', '/ä', '/a\\b', 'http://a b/', ' /a'],
      dataschema: ['//host/x', 'https://example.com/ä', 'xhttp//x'],
      datacontenttype: [
        ...['text/', 'text/plain; charset=', 'text/plain; charset="utf-8', 'text/plain charset=utf-8', '/plain'],
        'a/b; c = d',
      ],
      subject: ['a\u0085b', 'a\uDC00', '\uFDD0'],
    }),
  )('are refused with the %s %j, which is named', (name, value) => {
    expect(() => senderAttributes({ ...REQUIRED, [name]: value })).toThrow(`The CloudEvent's attribute ${name} `);
  });

  it.each<[string, object]>([
    ['id is missing.', { id: null }],
    ['id must not be empty.', { id: '' }],
    ['id must not be longer than 1024 characters.', { id: 'x'.repeat(1025) }],
    ['source must be a URI reference (RFC 3986).', { source: 'a b' }],
    ['type is missing.', { type: undefined }],
    ['type must not hold control characters, noncharacters or lone surrogates.', { type: 'a\u0000' }],
    ['specversion is missing.', { specversion: undefined }],
    ['specversion must be 1.0.', { specversion: '0.3' }],
    ['time must be a time as in RFC 3339.', { time: '2018-02-30T00:00:00Z' }],
    ['subject must not be empty.', { subject: '' }],
    ['datacontenttype must be a media type (RFC 2046).', { datacontenttype: 'json' }],
    ['dataschema must be an absolute URI (RFC 3986).', { dataschema: '/x' }],
    ['data is reserved for the payload: give the attribute another name.', { data: 'x' }],
    ['traceId must have a name of lower-case letters and digits.', { traceId: 'x' }],
    [' must have a name of lower-case letters and digits.', { '': 'x' }],
    [`${'x'.repeat(64)} must have a name of lower-case letters and digits.`, { ['x'.repeat(65)]: 'x' }],
    ['ext must not be empty.', { ext: '' }],
    ['ext must not hold control characters, noncharacters or lone surrogates.', { ext: 'a\u0000' }],
    ...[1.5, {}, [], 2 ** 31, -(2 ** 31) - 1].map((ext): [string, object] => [
      'ext must be a string that is not empty, a boolean or a 32-bit integer.',
      { ext },
    ]),
  ])('are refused: %s', (problem, wrong) => {
    expect(() => senderAttributes({ ...REQUIRED, ...wrong })).toThrow(
      expect.objectContaining({ name: 'CloudEventError', message: `The CloudEvent's attribute ${problem}` }) as Error,
    );
  });

  it('may be booleans, 32-bit integers and texts, under names of up to 64 letters and digits', () => {
    const given = {
      ...REQUIRED,
      [`a1${'x'.repeat(62)}`]: false,
      a: -(2 ** 31),
      b: 2 ** 31 - 1,
      c: 'é',
      id: 'x'.repeat(1024),
    };
    expect(senderAttributes({ ...given, gone: null, subject: undefined })).toStrictEqual(given);
  });

  describe('take up to 8192 bytes', () => {
    const refused = "The CloudEvent's attributes take more than 8192 bytes.";
    /** Attributes that take this many bytes, with some of them. */
    const sized = (bytes: number, more: object = {}) => {
      const room = bytes - JSON.stringify({ ...REQUIRED, x: '' }).length;
      return { ...REQUIRED, x: 'x'.repeat(room), ...more };
    };

    it('of their own', () => {
      expect(() => senderAttributes(sized(8192))).not.toThrow();
      expect(() => senderAttributes(sized(8193))).toThrow(refused);
      expect(() => senderAttributes({ ...REQUIRED, x: 'é'.repeat(4096) })).toThrow(refused);
    });

    it.each<[string, number]>([
      ['time', 64],
      ['sequence', 64],
      ['sendersenderbinding', 64],
      ['dataref', 12_288],
      ['traceparent', 255],
      ['tracestate', 512],
    ])('beside %s, which a log adds in up to %i bytes', (name, maxBytes) => {
      const value = (length: number) =>
        name === 'time' ? `2026-01-02T03:04:05.${'1'.repeat(length - 21)}Z` : 'x'.repeat(length);
      expect(() => senderAttributes(sized(8192, { [name]: value(maxBytes) }))).not.toThrow();
      expect(() => senderAttributes(sized(8193, { [name]: value(maxBytes) }))).toThrow(refused);
      expect(() => senderAttributes(sized(8192, { [name]: value(maxBytes + 1) }))).toThrow(refused);
    });

    it('with an attribute that no log adds, or a position that is a number', () => {
      expect(() => senderAttributes(sized(8192, { xsequence: 'x' }))).toThrow(refused);
      expect(() => senderAttributes(sized(8192, { sequence: 1 }))).toThrow(refused);
    });
  });

  it('are checked in linear time', () => {
    const started = performance.now();
    for (const [name, value] of [
      ['source', `${'a'.repeat(4000)}:${'/%41'.repeat(1000)} `],
      ['source', `//${'a:'.repeat(4000)}`],
      ['datacontenttype', `a/b${' ;'.repeat(4000)}x`],
      ['datacontenttype', `a/b;a="${'\\"'.repeat(2000)}`],
      ['time', `2018-04-05T17:31:00.${'1'.repeat(8000)}`],
    ] as const) {
      expect(() => senderAttributes({ ...REQUIRED, [name]: value })).toThrow(name);
    }
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

describe('the attributes of a sender', () => {
  it.each([
    [{ sendersequence: '1' }, { sendersequence: '1' }],
    [
      { sequence: '7', sendersequence: '6', sendersendersequence: '5' },
      { sendersendersendersequence: '7', sendersequence: '6', sendersendersequence: '5' },
    ],
    [
      { binding: 'b', sendersequence: '6' },
      { senderbinding: 'b', sendersequence: '6' },
    ],
  ])('%j have names that the log does not use: %j', (given, renamed) => {
    expect(withoutReservedNames(given)).toEqual(renamed);
  });
});

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const LATER = `01${TRACE.slice(2)}-`;

describe('the trace context of a request', () => {
  it.each([TRACE, TRACE.replace('00-', 'cc-'), `${LATER}more-!~`, LATER + 'x'.repeat(255 - LATER.length)])(
    'is taken from traceparent: %s',
    (traceparent) => {
      expect(traceAttributes({ traceparent })).toEqual({ traceparent });
    },
  );

  it.each([
    undefined,
    ['a', 'b'],
    `${TRACE} `,
    TRACE.toUpperCase(),
    TRACE.slice(0, -1),
    `${TRACE}0`,
    `${TRACE}-00`,
    `ff${TRACE.slice(2)}`,
    TRACE.replace('0af7651916cd43dd8448eb211c80319c', '0'.repeat(32)),
    TRACE.replace('b7ad6b7169203331', '0'.repeat(16)),
    `${LATER}a b`,
    LATER + 'x'.repeat(256 - LATER.length),
  ])('is left out if traceparent is not valid: %s', (traceparent) => {
    expect(traceAttributes({ traceparent, tracestate: 'a=1' })).toBeUndefined();
  });

  it.each(['a=1', 'congo=t61rcWkgMzE, rojo@vendor=00f067aa0ba902b7', `a=${'x'.repeat(510)}`])(
    'takes tracestate along: %s',
    (tracestate) => {
      expect(traceAttributes({ traceparent: TRACE, tracestate })).toEqual({ traceparent: TRACE, tracestate });
    },
  );

  it.each([undefined, ['a=1', 'b=2'], '', 'a=é', 'a=\t1', `a=${'x'.repeat(511)}`])(
    'leaves out tracestate that is not valid: %s',
    (tracestate) => {
      expect(traceAttributes({ traceparent: TRACE, tracestate })).toEqual({ traceparent: TRACE });
    },
  );
});
