import { HttpClient } from '../../../../src/cli/http-client';
import { compare, type Tally } from '../../../../src/cli/compare/compare';
import { startRecordedService, type Plant, type RecordedAnswer } from '../../../support/recorded-service';
import { startService, type TestService } from '../../../support/service';

const client = new HttpClient({ timeout: 10_000 }, 4 * 1024 * 1024);

async function compared(old: string, other: string): Promise<{ outcome: Tally; text: string }> {
  const lines: string[] = [];
  const print = (printed: readonly string[]): Promise<void> => {
    lines.push(...printed);
    return Promise.resolve();
  };
  const outcome = await compare({ old, new: other }, client, print);
  return { outcome, text: lines.join('\n') };
}

/** Changes the answers to requests that contain a text. */
function plant(part: string, change: (answer: RecordedAnswer) => Partial<RecordedAnswer>): Plant {
  return (answer, request) => (request.includes(part) ? { ...answer, ...change(answer) } : answer);
}

function body(from: string | RegExp, to: string): (answer: RecordedAnswer) => Partial<RecordedAnswer> {
  return (answer) => ({ body: answer.body.replace(from, to) });
}

function field(name: string, value: string): (answer: RecordedAnswer) => Partial<RecordedAnswer> {
  return ({ headers }) => ({ headers: { ...headers, [name]: value } });
}

/** What tells the requests apart. */
const HELLO_11 =
  'org/HelloWorld" <?xml version="1.0" encoding="utf-8"?>\n<soap:Envelope xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><Hello';

describe('calls on the old service and the new one', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  async function replaced(planted?: Plant) {
    const original = await startRecordedService(planted);
    try {
      return { ...(await compared(original.url, service.url)), requests: original.requests };
    } finally {
      await original.stop();
    }
  }

  it('show no difference between the original and this service, record no event and read none', async () => {
    const { outcome, text, requests } = await replaced();
    expect(outcome).toEqual({ differences: 0, failures: 0, calls: 14 });
    expect(text).toContain('WSDL: a generated client sees no difference');
    expect(text).toContain('HelloWorld with an action over SOAP 1.2: same');
    expect(text).toMatch(/A client sees no difference\.$/);
    expect(requests.filter((request) => /RecordEvent|GetEvents/.test(request))).toEqual([]);
    expect((await service.log.stats()).events).toBe(0);
  });

  const PLANTED: readonly (readonly [name: string, planted: Plant, old: string, other: string])[] = [
    ['the status of the service page', plant('GET   ', () => ({ status: 403 })), '403 Forbidden', '200 OK'],
    [
      'a content type',
      plant('POST /HelloWorld', field('Content-Type', 'application/xml')),
      'Content-Type: application/xml',
      'Content-Type: text/xml; charset=utf-8',
    ],
    ['a challenge', plant(HELLO_11, field('WWW-Authenticate', 'Negotiate')), 'WWW-Authenticate: Negotiate', ''],
    [
      'the namespace of a result',
      plant(HELLO_11, body('"http://tempuri.org/"', '"urn:x"')),
      '    <{urn:x}HelloWorldResponse>',
      '    <{http://tempuri.org/}HelloWorldResponse>',
    ],
    [
      'the code of a fault',
      plant('"http://tempuri.org/Nope"', body('soap:Client', 'soap:Server')),
      '      <faultcode>soap:Server</faultcode>',
      '      <faultcode>soap:Client</faultcode>',
    ],
    [
      'an empty body',
      plant('POST /Nope', () => ({ body: '' })),
      '(no body)',
      'Nope Web Service method name is not valid.',
    ],
  ];

  it.each(PLANTED)('show a difference in %s, and nothing else', async (_name, planted, old, other) => {
    const { outcome, text } = await replaced(planted);
    expect(outcome).toMatchObject({ differences: 1, failures: 0 });
    expect(text).toContain(`\n  - ${old}\n`);
    if (other !== '') expect(text).toContain(`\n  + ${other}\n`);
  });

  it.each([
    ['prefixes', plant(HELLO_11, body(/soap(?=:(?!\/\/))|(?<=:)soap(?==)/g, 's'))],
    ['the caching of a fault', plant('"http://tempuri.org/Nope"', field('Cache-Control', 'private'))],
    ['a field that is different each time', plant(HELLO_11, field('Date', 'Mon, 01 Jan 2024 00:00:00 GMT'))],
  ])('see no difference in %s', async (_name, planted) => {
    expect((await replaced(planted)).outcome).toMatchObject({ differences: 0, failures: 0 });
  });

  it('name differences in the WSDL as well, and call what both have', async () => {
    const { outcome, text } = await replaced(
      plant('?WSDL', body(/<wsdl:port name="WebHookHttp.*?<\/wsdl:port>/gs, '')),
    );
    expect(text).toContain('  +     <wsdl:port binding="tns:WebHookHttpGet" name="WebHookHttpGet"/>');
    expect(text).not.toContain('over HTTP GET');
    expect(outcome).toMatchObject({ differences: 1, failures: 0 });
  });

  it('show no difference between two services with different roots', async () => {
    const [old, other] = [
      await startService({ SERVICE_NAMESPACE: 'urn:shop:hooks' }),
      await startService({ SERVICE_NAMESPACE: 'urn:shop:hooks', SERVICE_ROOT: 'other' }),
    ];
    const { outcome } = await compared(old.url, `${other.url}?wsdl`);
    expect(outcome).toEqual({ differences: 0, failures: 0, calls: 14 });
  });

  it('are not the same where both services refuse the caller', async () => {
    const refusing = async () => (await startService({ RATE_LIMIT: '1/1h' })).url;
    const [old, other] = [await refusing(), await refusing()];
    const refused = await compared(old, other);
    expect(refused.outcome).toMatchObject({ differences: 0, failures: 14 });
    expect(refused.text).toContain('the new service refuses the caller: 429 Too Many Requests');
  });

  it('say of which no answer came', async () => {
    const { outcome, text } = await replaced((answer, request) => {
      if (request.startsWith('POST /HelloWorld')) return { ...answer, body: ' '.repeat(5 * 1024 * 1024) };
      return answer;
    });
    expect(outcome).toMatchObject({ differences: 0, failures: 1 });
    expect(text).toContain('the old service: the answer is longer than 4096 KiB');
    expect(text).toContain('1 of 14 calls could not be compared');
  });

  it('are shown as one text with a mark at the lines that differ', async () => {
    const { text } = await replaced(plant('GET /HelloWorld', body('Hello World', 'Hello')));
    expect(text).toContain(
      [
        'HelloWorld over HTTP GET: 1 difference',
        '  --- old',
        '  +++ new',
        '    200 OK',
        '    Content-Type: text/xml; charset=utf-8',
        '    Cache-Control: private, max-age=0',
        '',
        '  - <{http://tempuri.org/}string>Hello</{http://tempuri.org/}string>',
        '  + <{http://tempuri.org/}string>Hello World</{http://tempuri.org/}string>',
        'HelloWorld over HTTP POST: same',
      ].join('\n'),
    );
  });

  it('are cut where they are long', async () => {
    const { text } = await replaced(
      plant('GET /Nope', () => ({ body: Array.from({ length: 5000 }, (_, i) => `line ${String(i)}`).join('\n') })),
    );
    expect(text).toContain('  - line 100\n');
    expect(text).not.toContain('line 200');
    expect(text).toContain('  … and more lines');
  });
});
