import { httpContent } from '../../src/get-post/http-content';
import { MediaTypes } from '../../src/http/content/media-type';

const STRUCTURED = 'application/cloudevents+json';
const BATCHED = 'application/cloudevents-batch+json';
const EVENT = { specversion: '1.0', id: '1', source: '/o', type: 't' };
const BINARY = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/o', 'ce-type': 't' };

function contentOf(type: string | undefined, body: string | Buffer, headers: Record<string, string> = {}, query = '') {
  const all = type === undefined ? headers : { ...headers, 'content-type': type };
  return httpContent({ query, headers: all, mediaType: new MediaTypes().parse(type), body: Buffer.from(body) });
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
      payload: { mediaType: 'application/json', json: '{"a":"1"}' },
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
    ['bytes that are not text', STRUCTURED, Buffer.from([255]), 'The CloudEvent is not a JSON object.'],
    ['bytes in place of a batch', BATCHED, Buffer.from([255]), 'The batch of CloudEvents is not a JSON array.'],
    [
      'more than 100,000 parts',
      STRUCTURED,
      JSON.stringify({ ...EVENT, data: Array(100_001).fill([]) }),
      'The CloudEvent has more than 100,000 objects, arrays and members.',
    ],
  ])('is refused with %s', (_what, type, body, message) => {
    expect(() => contentOf(type, body)).toThrow(message);
  });
});
