import { callOperation, eventsOf, resultOf, type CloudEvent } from '../support/bindings';
import { forgetAll } from '../support/events';
import { send, type Answer } from '../support/http';
import { useService } from '../support/service';

const STRUCTURED = { 'Content-Type': 'application/cloudevents+json; charset=utf-8' };
const REQUIRED = { specversion: '1.0', id: 'e-1', source: '/orders', type: 'order.placed' };

describe('a CloudEvent over HTTP', () => {
  const service = useService();
  afterEach(() => forgetAll(service.log));

  const post = (headers: Record<string, string>, body: string | Buffer): Promise<Answer> =>
    send(`${service.url}/RecordEvent`, { method: 'POST', headers, body });
  const structured = (event: unknown) =>
    post(STRUCTURED, typeof event === 'string' || event instanceof Buffer ? event : JSON.stringify(event));
  const events = async (): Promise<CloudEvent[]> => eventsOf(await callOperation(service.url, 'httpget', 'GetEvents'));

  it('keeps its attributes and data in structured mode', async () => {
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

  it('in binary mode is read from ce- header fields and the body', async () => {
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

  it('in binary mode keeps a form as text, and bytes as base64', async () => {
    const headers = { 'ce-specversion': '1.0', 'ce-source': '/o', 'ce-type': 't' };
    await post({ ...headers, 'ce-id': '1', 'Content-Type': 'application/x-www-form-urlencoded' }, 'a=1&b=2');
    await post({ ...headers, 'ce-id': '2', 'Content-Type': 'application/octet-stream' }, Buffer.from([0, 255]));
    expect(await events()).toMatchObject([{ data: 'a=1&b=2' }, { data_base64: 'AP8=' }]);
  });

  it('keeps its values of attributes that the log sets itself under other names', async () => {
    await structured({ ...REQUIRED, sequence: '7', binding: 'amqp', constructor: 'c' });
    const [event] = await events();
    expect(event).toMatchObject({ sendersequence: '7', senderbinding: 'amqp', binding: 'httppost' });
    expect(Object.entries(event ?? {})).toContainEqual(['constructor', 'c']);
  });

  it.each<[string, object]>([
    ['id is missing', { id: undefined }],
    ['ext must be a string that is not empty, a boolean or a 32-bit integer', { ext: {} }],
  ])('is refused if its attribute %s', async (problem, wrong) => {
    const answer = await structured({ ...REQUIRED, ...wrong });
    expect(answer.status).toBe(400);
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(answer.body).toContain(`The CloudEvent's attribute ${problem}`);
    expect(await events()).toEqual([]);
  });

  it.each([
    ['broken JSON', '{', 'is not a JSON object'],
    ['bytes that are not text', Buffer.from([255]), 'is not a JSON object'],
    [
      'more than 100,000 parts',
      JSON.stringify({ ...REQUIRED, data: Array(100_001).fill([]) }),
      'more than 100,000 objects, arrays and members',
    ],
  ])('is refused if it is %s', async (_what, body, problem) => {
    const answer = await structured(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toContain(problem);
    expect(await events()).toEqual([]);
  });

  const BINARY = { 'ce-specversion': '1.0', 'ce-source': '/o', 'ce-type': 't', 'ce-id': '1' };

  it.each(Object.entries(BINARY))(
    'in binary mode is announced by %s, which is not valid alone',
    async (name, value) => {
      const answer = await post({ [name]: value }, '');
      expect([answer.status, answer.body]).toEqual([
        400,
        expect.stringMatching(/^The CloudEvent's attribute \w+ is missing/),
      ]);
    },
  );

  it('is not announced by other fields', async () => {
    await post({ 'ce-subject': 's', id: '1', 'x-ce-id': '1' }, '');
    expect((await events())[0]).toMatchObject({ type: 'webhook.recorded', source: '/webhooks/Services/WebHooks.asmx' });
  });

  it.each([
    ['Euro%20%e2%82%ac', 'Euro €'],
    ['%41%2541', 'A%41'],
    ['"a b"', 'a b'],
    ['"a \\"b\\" \\\\c"', 'a "b" \\c'],
    ['"a%20%22b"', 'a "b'],
    ['"%5C%22"', '\\"'],
    ['"a" b', '"a" b'],
    ['"a\\"', '"a\\"'],
    [Buffer.from('Grüße 😀').toString('latin1'), 'Grüße 😀'],
    [`"${Buffer.from('ä').toString('latin1')}%C3%A4"`, 'ää'],
  ])('in binary mode has the header value %s decoded', async (subject, expected) => {
    await post({ ...BINARY, 'ce-subject': subject }, '');
    expect((await events())[0]?.subject).toBe(expected);
  });

  it.each(['%C0%A0', 'a%E2%82', '"%ff"', 'Gr\xfc\xdfe'])(
    'in binary mode is refused if a header value is not percent-encoded UTF-8: %s',
    async (value) => {
      for (const name of ['subject', 'source', 'myext']) {
        const answer = await post({ ...BINARY, [`ce-${name}`]: value }, '');
        expect(answer.status).toBe(400);
        expect(answer.body).toBe(
          `The CloudEvent's attribute ${name} must be percent-encoded UTF-8 in a header field.\n`,
        );
      }
      expect(await events()).toEqual([]);
    },
  );

  it('in binary mode keeps header values that are not percent-encoded as they came', async () => {
    const values = ['100%', '%zz', '%4', '%41%', 'a%0Ab', '100% ü%20'];
    const given = Object.fromEntries(values.map((value, i) => [`ext${String(i)}`, value]));
    const fields = Object.entries(given).map(([name, value]) => [`ce-${name}`, Buffer.from(value).toString('latin1')]);
    // Decoded, these would not be valid.
    const uris = { source: '/a%20b', dataschema: 'https://example.com/a%20b' };
    const headers = { ...BINARY, 'ce-source': uris.source, 'ce-dataschema': uris.dataschema };
    expect((await post({ ...headers, ...(Object.fromEntries(fields) as Record<string, string>) }, '')).status).toBe(
      200,
    );
    expect((await events())[0]).toMatchObject({ ...uris, ...given });
  });

  it('in binary mode takes datacontenttype from Content-Type alone', async () => {
    const wrong = { ...BINARY, 'ce-datacontenttype': 'application/json' };
    await post({ ...wrong, 'Content-Type': 'text/plain' }, '{}');
    await post({ ...wrong, 'ce-id': '2' }, '');
    expect((await events()).map(({ datacontenttype, data }) => [datacontenttype, data])).toEqual([
      ['text/plain', '{}'],
      [undefined, undefined],
    ]);
  });

  it.each(['data', 'data_base64'])('in binary mode is refused if it has %s as a header field', async (name) => {
    const answer = await post({ ...BINARY, [`ce-${name}`]: 'eA==' }, 'x');
    expect([answer.status, answer.body]).toEqual([
      400,
      `The CloudEvent's ${name} must be the body of the request, not the field ce-${name}.\n`,
    ]);
    expect(await events()).toEqual([]);
  });

  it.each(['application/cloudevents-batch+avro', 'Application/CloudEvents+XML; charset=utf-8'])(
    'is refused with 415 and Accept-Post in the format %s',
    async (type) => {
      const answer = await post({ ...BINARY, 'Content-Type': type }, 'x');
      expect(answer.status).toBe(415);
      expect(answer.headers['accept-post']).toBe('application/cloudevents+json, application/cloudevents-batch+json');
      expect(await events()).toEqual([]);
    },
  );

  it('is recorded once, even if it is sent again in the other content mode', async () => {
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
