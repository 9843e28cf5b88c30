import { newestEvents, post as record, resultOf } from '../support/bindings';
import { forgetAll } from '../support/events';
import type { Answer } from '../support/http';
import { useService } from '../support/service';

const STRUCTURED = { 'Content-Type': 'application/cloudevents+json; charset=utf-8' };
const REQUIRED = { specversion: '1.0', id: 'e-1', source: '/orders', type: 'order.placed' };
const BINARY = { 'ce-specversion': '1.0', 'ce-source': '/orders', 'ce-type': 'order.placed', 'ce-id': 'e-1' };
const latin1 = (text: string) => Buffer.from(text).toString('latin1');

describe('a CloudEvent over HTTP', () => {
  const service = useService();
  afterEach(() => forgetAll(service.log));

  const post = (headers: Record<string, string>, body: string | Buffer) => record(service.url, body, headers);
  const structured = (event: unknown) =>
    post(STRUCTURED, typeof event === 'string' || event instanceof Buffer ? event : JSON.stringify(event));
  const binary = (headers: Record<string, string>, body: string | Buffer = '') => post({ ...BINARY, ...headers }, body);
  const events = () => newestEvents(service.url);
  const expectRefusal = async ({ status, body }: Answer, problem: string) => {
    expect([status, body]).toEqual([400, expect.stringContaining(problem)]);
    expect(await events()).toEqual([]);
  };

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

  it.each<[string, unknown, string]>([
    ['an event without an id', { ...REQUIRED, id: undefined }, "The CloudEvent's attribute id is missing"],
    ['bytes that are not text', Buffer.from([255]), 'is not a JSON object'],
    [
      'more than 100,000 parts',
      { ...REQUIRED, data: Array(100_001).fill([]) },
      'more than 100,000 objects, arrays and members',
    ],
  ])('is refused if it is %s', async (_what, event, problem) => {
    const answer = await structured(event);
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    await expectRefusal(answer, problem);
  });

  it.each(['application/cloudevents-batch+avro', 'Application/CloudEvents+XML; charset=utf-8'])(
    'is refused with 415 and Accept-Post in the format %s',
    async (type) => {
      const answer = await binary({ 'Content-Type': type }, 'x');
      expect(answer.status).toBe(415);
      expect(answer.headers['accept-post']).toBe('application/cloudevents+json, application/cloudevents-batch+json');
      expect(await events()).toEqual([]);
    },
  );

  it('is not announced by other fields', async () => {
    await post({ 'ce-subject': 's', id: '1', 'x-ce-id': '1' }, '');
    expect(await events()).toMatchObject([{ type: 'webhook.recorded', source: '/webhooks/Services/WebHooks.asmx' }]);
  });

  describe('in binary mode', () => {
    it('is read from ce- header fields and the body: JSON, a form as text, bytes as base64', async () => {
      expect(resultOf(await binary({ 'Content-Type': 'application/json', 'ce-subject': 's' }, '{"a":1}'))).toBe('e-1');
      await binary({ 'ce-id': '2', 'Content-Type': 'application/x-www-form-urlencoded' }, 'a=1&b=2');
      await binary({ 'ce-id': '3', 'Content-Type': 'application/octet-stream' }, Buffer.from([0, 255]));
      expect(await events()).toMatchObject([
        { ...REQUIRED, subject: 's', datacontenttype: 'application/json', data: { a: 1 } },
        { data: 'a=1&b=2' },
        { data_base64: 'AP8=' },
      ]);
    });

    it.each(Object.entries(BINARY))('is announced by %s, which is not valid alone', async (name, value) => {
      const answer = await post({ [name]: value }, '');
      await expectRefusal(answer, 'is missing');
      expect(answer.body).toMatch(/^The CloudEvent's attribute \w+ is missing/);
    });

    it.each([
      ['Euro%20%e2%82%ac%20%F0%9F%98%80', 'Euro € \u{1F600}'],
      ['%41%2541', 'A%41'],
      ['"a b"', 'a b'],
      ['"a \\"b\\" \\\\c"', 'a "b" \\c'],
      ['"a%20%22b"', 'a "b'],
      ['"%5C%22"', '\\"'],
      ['"a" b', '"a" b'],
      ['"a\\"', '"a\\"'],
      [latin1('Grüße 😀'), 'Grüße 😀'],
      [`"${latin1('ä')}%C3%A4"`, 'ää'],
    ])('has the header value %s decoded', async (subject, expected) => {
      await binary({ 'ce-subject': subject });
      expect(await events()).toMatchObject([{ subject: expected }]);
    });

    it.each(['%C0%A0', 'a%E2%82', '"%ff"', 'Gr\xfc\xdfe'])(
      'is refused if a header value is not percent-encoded UTF-8: %s',
      async (value) => {
        for (const name of ['subject', 'source', 'myext'])
          await expectRefusal(
            await binary({ [`ce-${name}`]: value }),
            `The CloudEvent's attribute ${name} must be percent-encoded UTF-8 in a header field.\n`,
          );
      },
    );

    it('keeps header values that are not percent-encoded as they came', async () => {
      const values = ['100%', '%zz', '%4', '%41%', 'a%0Ab', '100% ü%20'];
      const given = Object.fromEntries(values.map((value, i) => [`ext${String(i)}`, value]));
      // Decoded, these would not be valid.
      const uris = { source: '/a%20b', dataschema: 'https://example.com/a%20b' };
      const fields = Object.entries({ ...uris, ...given }).map(([name, value]) => [`ce-${name}`, latin1(value)]);
      expect((await binary(Object.fromEntries(fields) as Record<string, string>)).status).toBe(200);
      expect(await events()).toMatchObject([{ ...uris, ...given }]);
    });

    it('takes datacontenttype from Content-Type alone', async () => {
      const wrong = { 'ce-datacontenttype': 'application/json' };
      await binary({ ...wrong, 'Content-Type': 'text/plain' }, '{}');
      await binary({ ...wrong, 'ce-id': '2' });
      expect((await events()).map(({ datacontenttype, data }) => [datacontenttype, data])).toEqual([
        ['text/plain', '{}'],
        [undefined, undefined],
      ]);
    });

    it.each(['data', 'data_base64'])('is refused if it has %s as a header field', async (name) => {
      const problem = `The CloudEvent's ${name} must be the body of the request, not the field ce-${name}.\n`;
      await expectRefusal(await binary({ [`ce-${name}`]: 'eA==' }, 'x'), problem);
    });
  });
});
