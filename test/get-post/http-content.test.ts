import { SentEvent } from '../../src/events/cloudevents/sent-event';
import { httpContent } from '../../src/get-post/http-content';
import { HttpInput } from '../../src/get-post/http-input';
import { MediaType } from '../../src/http/content/media-type';

const STRUCTURED = 'application/cloudevents+json';
const BATCHED = 'application/cloudevents-batch+json';
const EVENT = { specversion: '1.0', id: '1', source: '/o', type: 't' };
const BINARY = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/o', 'ce-type': 't' };

function contentOf(type: string | undefined, body: string | Buffer, headers: Record<string, string> = {}, query = '') {
  const all = type === undefined ? headers : { ...headers, 'content-type': type };
  return httpContent(new HttpInput(query, all, MediaType.parse(type), Buffer.from(body)));
}

describe('the content of a request', () => {
  it.each([STRUCTURED, `${STRUCTURED}; charset=UTF-8`])('is a CloudEvent in structured mode as %s', (type) => {
    expect(contentOf(type, JSON.stringify({ ...EVENT, data: 'é' }), BINARY)).toEqual({
      attributes: EVENT,
      payload: { mediaType: undefined, json: '"é"' },
    });
  });

  it('is a batch of CloudEvents', () => {
    expect(contentOf(BATCHED, JSON.stringify([EVENT]), BINARY)).toEqual({
      batch: [{ attributes: EVENT, payload: undefined }],
    });
  });

  it('is a CloudEvent in binary mode, with a body or without', () => {
    expect(contentOf('text/plain', 'x', BINARY)).toEqual({
      attributes: { ...EVENT, datacontenttype: 'text/plain' },
      payload: { mediaType: 'text/plain', text: 'x' },
    });
    expect(contentOf(undefined, '', BINARY, 'a=1')).toEqual({ attributes: EVENT, payload: undefined });
  });

  it('is any other payload', () => {
    expect(contentOf('text/plain', 'x')).toEqual({ payload: { mediaType: 'text/plain', text: 'x' } });
    expect(contentOf(undefined, '', {}, 'a=1')).toEqual({
      payload: { mediaType: 'application/json', json: '{"a":"1"}', value: { a: '1' }, sentAs: 'query' },
    });
    expect(contentOf(undefined, '')).toEqual({ payload: undefined });
    expect(contentOf('application/cloudeventsx', 'x')).toMatchObject({
      payload: { mediaType: 'application/cloudeventsx' },
    });
    expect(contentOf('x/application/cloudevents', 'x')).toMatchObject({ payload: { text: 'x' } });
    expect(contentOf('xapplication/cloudevents', 'x')).toMatchObject({ payload: { bytes: Buffer.from('x') } });
  });

  it.each([
    'application/cloudevents',
    'application/cloudevents+avro',
    'application/cloudevents-batch+avro',
    'Application/CloudEvents+XML; charset=utf-8',
  ])('in the format %s is refused', (type) => {
    const essence = type.split(';')[0]?.toLowerCase() ?? '';
    expect(() => contentOf(type, 'x', BINARY)).toThrow(
      expect.objectContaining({
        status: 415,
        refusal: 'invalid',
        message: `CloudEvents as ${essence} are not supported. Send them as ${STRUCTURED} or ${BATCHED}.`,
        headers: { 'Accept-Post': `${STRUCTURED}, ${BATCHED}` },
      }) as Error,
    );
  });

  it.each([
    {
      what: 'bytes that are not text',
      type: STRUCTURED,
      body: Buffer.from([255]),
      message: 'The CloudEvent is not a JSON object.',
    },
    {
      what: 'bytes in place of a batch',
      type: BATCHED,
      body: Buffer.from([255]),
      message: 'The batch of CloudEvents is not a JSON array.',
    },
    {
      what: 'more than 100,000 parts',
      type: STRUCTURED,
      body: JSON.stringify({ ...EVENT, data: Array(100_001).fill([]) }),
      message: 'The CloudEvent has more than 100,000 objects, arrays and members.',
    },
  ])('is refused with $what', ({ type, body, message }) => {
    expect(() => contentOf(type, body)).toThrow(message);
  });
});

const REQUIRED = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/o', 'ce-type': 't' };
const ATTRIBUTES = { specversion: '1.0', id: '1', source: '/o', type: 't' };

describe('binary content mode', () => {
  it.each(Object.entries(REQUIRED))('is announced by %s, which is not valid alone', (name, value) => {
    expect(() => SentEvent.binaryAttributes({ [name]: value })).toThrow("The CloudEvent's attribute");
  });

  it.each([{}, { 'ce-subject': 's' }, { id: '1' }, { 'x-ce-id': '1' }])('is not announced by %j', (headers) => {
    expect(SentEvent.binaryAttributes(headers)).toBeUndefined();
  });

  it('takes the attributes from ce- fields, and datacontenttype from Content-Type alone', () => {
    const headers = { host: 'x', 'x-ce-a': '1', 'ce-datacontenttype': 'a/b' };
    expect(SentEvent.binaryAttributes({ ...headers, ...REQUIRED, 'ce-ext': '7' })).toEqual({ ...ATTRIBUTES, ext: '7' });
    expect(SentEvent.binaryAttributes({ ...headers, ...REQUIRED, 'content-type': 'text/plain' })).toEqual({
      ...ATTRIBUTES,
      datacontenttype: 'text/plain',
    });
  });

  it.each([
    ['%41%2541', 'A%41'],
    ['Euro%20%e2%82%AC', 'Euro €'],
    ['"a b"', 'a b'],
    ['"a \\"b\\" \\\\c"', 'a "b" \\c'],
    ['"a%20%22b"', 'a "b'],
    ['"%5C%22"', '\\"'],
    ['"%25zz"', '%zz'],
    ['a "b"', 'a "b"'],
    ['"a" b', '"a" b'],
    ['"a', '"a'],
    ['"a\\"', '"a\\"'],
    ['a\\"', 'a\\"'],
    [Buffer.from('Grüße 😀').toString('latin1'), 'Grüße 😀'],
  ])('decodes the value %s', (value, subject) => {
    expect(SentEvent.binaryAttributes({ ...REQUIRED, 'ce-subject': value })).toEqual({ ...ATTRIBUTES, subject });
  });

  it.each(['%', '100%', '%zz', '%4', '%4g', '%41%', 'a%0Ab', '100% ü%20'])(
    'keeps the value %s, which is not percent-encoded, as it came',
    (value) => {
      const given = Buffer.from(value).toString('latin1');
      expect(SentEvent.binaryAttributes({ ...REQUIRED, 'ce-ext': given })).toEqual({ ...ATTRIBUTES, ext: value });
    },
  );

  it.each([
    ['source', '/a%20b'],
    ['source', 'urn:%41%20'],
    ['dataschema', 'https://example.com/a%20b'],
  ])('keeps the %s %s, which would not be valid decoded, as it came', (name, value) => {
    expect(SentEvent.binaryAttributes({ ...REQUIRED, [`ce-${name}`]: value })).toEqual({
      ...ATTRIBUTES,
      [name]: value,
    });
  });

  it.each(['%C0%A0', '%FF', '%ED%A0%80', '"%ff"', '\xff'])('refuses the value %s', (value) => {
    expect(() => SentEvent.binaryAttributes({ ...REQUIRED, 'ce-ext': value })).toThrow(
      "The CloudEvent's attribute ext must be percent-encoded UTF-8 in a header field.",
    );
  });

  it.each(['data', 'data_base64'])('refuses %s as a header field', (name) => {
    expect(() => SentEvent.binaryAttributes({ ...REQUIRED, [`ce-${name}`]: 'eA==' })).toThrow(
      `The CloudEvent's ${name} must be the body of the request, not the field ce-${name}.`,
    );
  });
});
