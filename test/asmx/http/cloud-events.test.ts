import { BINDINGS, callOperation, eventsOf, resultOf, type CloudEvent } from '../support/bindings';
import { send, type Answer } from '../support/http';
import { startService, type TestService } from '../support/service';

const STRUCTURED = { 'Content-Type': 'application/cloudevents+json; charset=utf-8' };
const REQUIRED = { specversion: '1.0', id: 'e-1', source: '/orders', type: 'order.placed' };

describe('a CloudEvent over HTTP', () => {
  let service: TestService;
  beforeEach(async () => {
    service = await startService();
  });
  afterEach(() => service.stop());

  const post = (headers: Record<string, string>, body: string | Buffer): Promise<Answer> =>
    send(`${service.url}/RecordEvent`, { method: 'POST', headers, body });
  const structured = (event: unknown) => post(STRUCTURED, typeof event === 'string' ? event : JSON.stringify(event));
  const events = async (): Promise<CloudEvent[]> => eventsOf(await callOperation(service.url, 'httpget', 'GetEvents'));

  it('in structured mode keeps its attributes and its data', async () => {
    const event = {
      ...REQUIRED,
      time: '2026-01-02T03:04:05.123456+02:00',
      subject: 'ä/"1"',
      dataschema: 'https://example.com/schema',
      datacontenttype: 'application/vnd.order+json',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      retries: 3,
      urgent: true,
      data: { a: [1, null, 'x'] },
    };
    expect(resultOf(await structured(event))).toBe('e-1');
    const [recorded] = await events();
    expect(recorded).toEqual({ ...event, binding: 'httppost', sequence: recorded?.sequence });
  });

  it('keeps the digits of its numbers', async () => {
    await structured(`{"data" : [1.0, 12345678901234567890, -0, 1e400] ,${JSON.stringify(REQUIRED).slice(1)}`);
    const result = await callOperation(service.url, 'soap11', 'GetEvents');
    expect(result).toContain('"data":[1.0, 12345678901234567890, -0, 1e400]');
  });

  it('keeps data_base64', async () => {
    await structured({ ...REQUIRED, datacontenttype: 'image/png', data_base64: 'AP8=' });
    expect((await events())[0]).toMatchObject({ datacontenttype: 'image/png', data_base64: 'AP8=' });
  });

  it('in binary mode has its attributes in header fields and its data in the body', async () => {
    const headers = {
      'ce-specversion': '1.0',
      'ce-id': 'b-1',
      'ce-source': '/orders',
      'ce-type': 'order.placed',
      'ce-subject': 'Euro%20%E2%82%AC%20%F0%9F%98%80',
      'Content-Type': 'application/json',
    };
    expect(resultOf(await post(headers, '{"a":1}'))).toBe('b-1');
    expect((await events())[0]).toMatchObject({
      id: 'b-1',
      subject: 'Euro € \u{1F600}',
      datacontenttype: 'application/json',
      data: { a: 1 },
    });
  });

  it('in binary mode keeps a form as the text that it is, and bytes as base64', async () => {
    const headers = { 'ce-specversion': '1.0', 'ce-source': '/o', 'ce-type': 't' };
    await post({ ...headers, 'ce-id': '1', 'Content-Type': 'application/x-www-form-urlencoded' }, 'a=1&b=2');
    await post({ ...headers, 'ce-id': '2', 'Content-Type': 'application/octet-stream' }, Buffer.from([0, 255]));
    expect(await events()).toMatchObject([{ data: 'a=1&b=2' }, { data_base64: 'AP8=' }]);
  });

  it('keeps what it says of the log’s own attributes under other names', async () => {
    await structured({ ...REQUIRED, sequence: '7', binding: 'amqp', constructor: 'c' });
    const [event] = await events();
    expect(event).toMatchObject({ sendersequence: '7', senderbinding: 'amqp', binding: 'httppost' });
    expect(Object.entries(event ?? {})).toContainEqual(['constructor', 'c']);
  });

  it.each<[string, object]>([
    ['id is missing', { id: undefined }],
    ['id must not be empty', { id: '' }],
    ['id must not be longer than 1024 characters', { id: 'x'.repeat(1025) }],
    ['id must be a string', { id: 7 }],
    ['source is missing', { source: null }],
    ['source must be a URI reference', { source: 'a b' }],
    ['type must not hold control characters', { type: 'a\u0000' }],
    ['type must not hold control characters', { type: 'a\uFFFE' }],
    ['specversion must be 1.0', { specversion: '0.3' }],
    ['time must be a time as in RFC 3339', { time: 'yesterday' }],
    ['datacontenttype must be a media type', { datacontenttype: 'json' }],
    ['dataschema must be an absolute URI', { dataschema: '/x' }],
    ['traceId must have a name of lower-case letters and digits', { traceId: 'x' }],
    ['ext must be a string that is not empty, a boolean or a 32-bit integer', { ext: 1.5 }],
    ['ext must be a string that is not empty, a boolean or a 32-bit integer', { ext: {} }],
  ])('is refused where its attribute %s', async (problem, wrong) => {
    const answer = await structured({ ...REQUIRED, ...wrong });
    expect(answer.status).toBe(400);
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(answer.body).toContain(`The CloudEvent&#39;s attribute ${problem}`);
    expect(await events()).toEqual([]);
  });

  it.each([
    ['no JSON', '{', 'is not a JSON object'],
    ['an array', '[]', 'is not a JSON object'],
    ['both kinds of data', JSON.stringify({ ...REQUIRED, data: 1, data_base64: '' }), 'both data and data_base64'],
    ['no base64', JSON.stringify({ ...REQUIRED, data_base64: 'a_==' }), 'data_base64 must be a base64 string'],
    ['too many attributes', JSON.stringify({ ...REQUIRED, x: 'x'.repeat(9000) }), 'more than 8192 bytes'],
  ])('is refused where it is %s', async (_what, body, problem) => {
    const answer = await structured(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toContain(problem);
    expect(await events()).toEqual([]);
  });

  it('in binary mode is refused where an attribute is missing', async () => {
    const answer = await post({ 'ce-id': '1', 'ce-source': '/a', 'ce-specversion': '1.0' }, '');
    expect([answer.status, answer.body]).toEqual([400, 'The CloudEvent&#39;s attribute type is missing.\n']);
  });

  it('is recorded once, over whichever content mode it comes again', async () => {
    await structured({ ...REQUIRED, data: 1 });
    const headers = { 'ce-specversion': '1.0', 'ce-id': 'e-1', 'ce-source': '/orders', 'ce-type': 'order.placed' };
    expect(resultOf(await post(headers, ''))).toBe('e-1');
    expect(resultOf(await structured({ ...REQUIRED, source: '/others' }))).toBe('e-1');
    expect((await events()).map(({ source, data }) => [source, data])).toEqual([
      ['/orders', 1],
      ['/others', undefined],
    ]);
  });
});

describe('a sender that repeats itself', () => {
  it.each(['Idempotency-Key', 'webhook-id'])('with the same %s gets the first id over every binding', async (name) => {
    const service = await startService();
    const ids = new Set<string>();
    for (const binding of BINDINGS) {
      ids.add(await callOperation(service.url, binding, 'RecordEvent', '', { [name]: 'same' }));
    }
    expect(ids.size).toBe(1);
    expect(eventsOf(await callOperation(service.url, 'soap12', 'GetEvents'))).toHaveLength(1);
    await service.stop();
  });
});
