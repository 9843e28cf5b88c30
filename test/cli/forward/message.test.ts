import { rawContent } from '../../../src/cli/forward/message';
import { ArchiveLine } from '../../../src/events/archive-line';
import type { StoredEvent } from '../../../src/events/stored-event';
import { requestOf } from '../../support/bindings';
import { send, type Question } from '../../support/http';
import { startService, type TestService } from '../../support/service';

const FORM = 'application/x-www-form-urlencoded';
const STRUCTURED = 'application/cloudevents+json';

describe('the payload that --raw sends', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  /** Records a request, and returns what is sent of the events that it made. */
  const sentOf = async (question: Question, path = '/RecordEvent'): Promise<[string | undefined, string][]> => {
    const [newest] = await service.log.read({ limit: 1 });
    const answer = await send(service.url + path, question);
    expect(answer.status).toBe(200);
    const events = await service.log.scan({ after: newest?.position ?? 0, limit: 10 });
    return events.map(rawContent).map(({ contentType, body }) => [contentType, body.toString('latin1')]);
  };

  const post = (type: string | undefined, body: string | Buffer, headers: Record<string, string> = {}): Question => ({
    method: 'POST',
    headers: { ...(type !== undefined && { 'Content-Type': type }), ...headers },
    body: typeof body === 'string' ? Buffer.from(body, 'latin1') : body,
  });
  const utf8 = (text: string) => Buffer.from(text).toString('latin1');

  it.each<[string, string | undefined, string]>([
    ['JSON, with all digits', 'application/json', '{"n":12345678901234567890.10, "a":[1]}'],
    ['a JSON string', 'application/json', '"a \\"b\\""'],
    ['JSON of another type', 'application/vnd.github+json; charset=utf-8; v=3', '{"a":1}'],
    ['what claims to be JSON', 'application/json', '{"a":'],
    ['text', 'text/plain; charset=UTF-8', utf8('ä\r\n"b"\t\\')],
    ['text of no type', undefined, 'some text'],
    ['bytes', 'application/octet-stream', '\u0000\u00ff\u0080'],
    ['a form with files that cannot be read', 'multipart/form-data; boundary=x', '--x\r\n\r\n\u00ff\r\n--x--'],
    [
      'a form with files',
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\n\u00ff\r\n--x--\r\n',
    ],
    ['a form', FORM, 'b=1+2&b=%26&a=%C3%A4'],
    ['a form that is JSON', FORM, '{"order":"19"}'],
    ['a form that cannot be decoded', FORM, 'a=%FF'],
    ['XML', 'text/xml', '<?xml version="1.0" encoding="iso-8859-1"?><a>b</a>'],
  ])('is the very body and content type of %s', async (_what, type, body) => {
    expect(await sentOf(post(type, body))).toEqual([[type, body]]);
  });

  it.each<{
    readonly what: string;
    readonly type: string;
    readonly body: string;
    readonly sentType: string;
    readonly sent: string;
  }>([
    {
      what: 'JSON over several lines',
      type: 'application/json',
      body: '{\n\t"a": 1\r\n}',
      sentType: 'application/json',
      sent: '{  "a": 1  }',
    },
    {
      what: 'text',
      type: 'text/plain; charset=iso-8859-1; x=1',
      body: 'ä',
      sentType: 'text/plain; x=1; charset=utf-8',
      sent: utf8('ä'),
    },
    {
      what: 'quoted',
      type: 'text/plain; charset="iso-8859-1"',
      body: 'ä',
      sentType: 'text/plain; charset=utf-8',
      sent: utf8('ä'),
    },
    {
      what: 'a form',
      type: `${FORM};charset=iso-8859-1`,
      body: 'a=%E4',
      sentType: `${FORM}; charset=utf-8`,
      sent: 'a=%C3%A4',
    },
    {
      what: 'XML',
      type: 'text/xml',
      body: '<?xml version="1.0" encoding="iso-8859-1"?><a>ä</a>',
      sentType: 'text/xml; charset=utf-8',
      sent: '',
    },
  ])('is in UTF-8 and says so: $what', async ({ type, body, sentType, sent }) => {
    expect(await sentOf(post(type, body))).toEqual([[sentType, sent === '' ? utf8(body) : sent]]);
  });

  it('is a form for a query string, and nothing for nothing', async () => {
    expect(await sentOf({}, '/RecordEvent?b=1&a=%C3%A4+b&b=2')).toEqual([[FORM, 'b=1&b=2&a=%C3%A4+b']]);
    expect(await sentOf(post(undefined, ''), '/RecordEvent?a={"b":1}')).toEqual([[FORM, 'a=%7B%22b%22%3A1%7D']]);
    expect(await sentOf({})).toEqual([[undefined, '']]);
    expect(await sentOf(post('text/plain', ''))).toEqual([[undefined, '']]);
  });

  it.each(['soap11', 'soap12'] as const)('is the XML inside the operation over %s', async (binding) => {
    const { path, ...question } = requestOf(binding, 'RecordEvent', '<order>ä</order>');
    const [[type, body] = []] = await sentOf(question, path);
    expect(type).toBe('application/xml; charset=utf-8');
    expect(body).toContain(utf8('>ä</order>'));
  });

  it('is the data of a CloudEvent, however it came', async () => {
    const event = { specversion: '1.0', source: '/s', type: 't' };
    const events = [
      { ...event, id: '1', data: { a: 'b' } },
      { ...event, id: '2', data: 'text', datacontenttype: 'text/plain' },
      { ...event, id: '3', data: { a: 'b' }, datacontenttype: 'application/json' },
      { ...event, id: '4', data: 'json', datacontenttype: 'application/json' },
      { ...event, id: '5', data_base64: 'AP8=', datacontenttype: 'image/png' },
      { ...event, id: '6' },
      { ...event, id: '7', data: { a: 'b c' }, datacontenttype: FORM },
    ];
    const expected = [
      ['application/json', '{"a":"b"}'],
      ['text/plain', 'text'],
      ['application/json', '{"a":"b"}'],
      ['application/json', '"json"'],
      ['image/png', '\u0000\u00ff'],
      [undefined, ''],
      [FORM, 'a=b+c'],
    ];
    expect(await sentOf(post('application/cloudevents-batch+json', JSON.stringify(events)))).toEqual(expected);
    for (const [i, one] of events.entries()) {
      expect(await sentOf(post(STRUCTURED, JSON.stringify({ ...one, id: `s${one.id}` })))).toEqual([expected[i]]);
    }
    const headers = { 'ce-specversion': '1.0', 'ce-id': 'binary', 'ce-source': '/s', 'ce-type': 't' };
    expect(await sentOf(post('text/plain', 'binary', headers))).toEqual([['text/plain', 'binary']]);
  });

  it('is made of whatever an archive has', async () => {
    const archived = async (event: object, arrival: object): Promise<StoredEvent> => ({
      ...(await new ArchiveLine(
        JSON.stringify({
          ...{ specversion: '1.0', id: 'a', source: '/s', type: 't', ...event },
          _log: { recordedAt: '2026-01-01T00:00:00Z', arrival },
        }),
      ).event()),
      position: 1,
    });
    const contentOf = async (event: object, arrival: object = {}) => {
      const { contentType, body } = rawContent(await archived(event, arrival));
      return [contentType, body.toString()];
    };
    const odd = { path: 1, headers: 'x' };
    expect(await contentOf({ data: 'x', datacontenttype: 'text/plain' }, odd)).toEqual(['text/plain', 'x']);
    const smuggled = { headers: { 'content-type': 'text/plain\r\nX-Key: 1' } };
    expect(await contentOf({ data: 'x' }, smuggled)).toEqual([undefined, 'x']);
    const polluting = { path: '/?x', headers: {} };
    const fields = JSON.parse('{"__proto__":"p","a":["b","c"]}') as object;
    expect(await contentOf({ data: fields }, polluting)).toEqual([FORM, '__proto__=p&a=b&a=c']);
    expect(await contentOf({ data: { a: 1 } }, polluting)).toEqual(['application/json', '{"a":1}']);
    // An import refuses it now.
    const earlier = { ...(await archived({ data: 'ä' }, {})), attributes: '{"datacontenttype":"text"}' };
    expect(rawContent(earlier)).toEqual({ contentType: 'text', body: Buffer.from('ä') });
  });
});
