import { compareAnswers, seen, type Comparison } from '../../../../src/cli/compare/answers';
import { callsOf, type ComparedCall } from '../../../../src/cli/compare/calls';
import { HttpClient, type HttpAnswer } from '../../../../src/cli/http-client';
import { compare, type CompareTask, type Tally } from '../../../../src/cli/compare/compare';
import { Wsdl } from '../../../../src/cli/compare/wsdl';
import {
  RECORDED_WSDL,
  startRecordedService,
  type Plant,
  type RecordedAnswer,
} from '../../../support/recorded-service';
import { startService, type TestService } from '../../../support/service';

const client = new HttpClient({ timeout: 10_000 }, 4 * 1024 * 1024);

async function compared(
  old: string,
  other: string,
  options: Partial<CompareTask> = {},
): Promise<{ outcome: Tally; text: string }> {
  const lines: string[] = [];
  const print = (printed: readonly string[]): Promise<void> => {
    lines.push(...printed);
    return Promise.resolve();
  };
  const how = { isBrief: true, isVerbose: true, makesCalls: true, asked: [] };
  const task = { old, new: other, ...how } as const;
  const outcome = await compare({ ...task, ...options }, client, print);
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
const UNFINISHED_11 = '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>';
const UNFINISHED_12 = '<soap12:Envelope xmlns:soap12="http://www.w3.org/2003/05/soap-envelope"><soap12:Body>';

function lowerCased(headers: Readonly<Record<string, string>>): Map<string, string> {
  return new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

describe('calls on the old service and the new one', () => {
  let service: TestService;
  const exchanges: { readonly call: ComparedCall; readonly old: HttpAnswer; readonly other: HttpAnswer }[] = [];
  beforeAll(async () => {
    service = await startService();
    const original = await startRecordedService();
    const wsdl = new Wsdl(RECORDED_WSDL);
    for (const call of callsOf(wsdl, wsdl, [])) {
      const [old, other] = [original, service].map(({ url }) => client.ask(new URL(url + call.location), call));
      if (old !== undefined && other !== undefined) exchanges.push({ call, old: await old, other: await other });
    }
    await original.stop();
  });
  afterAll(() => service.stop());

  async function replaced(planted?: Plant, options?: Partial<CompareTask>) {
    const original = await startRecordedService(planted);
    try {
      return { ...(await compared(original.url, service.url, options)), requests: original.requests };
    } finally {
      await original.stop();
    }
  }

  it('show no difference between the original and this service, but those on purpose', async () => {
    const { outcome, text } = await replaced();
    expect(outcome).toEqual({ differences: 0, failures: 0, calls: 17 });
    expect(text).toContain('WSDL: a generated client sees no difference');
    expect(text.match(/on purpose/g)).toHaveLength(3);
    expect(text).toContain('HelloWorld over SOAP 1.2 with an action: same');
    expect(text).toMatch(/A client sees no difference\.$/);
  });

  it('record no event and read none', async () => {
    const { requests } = await replaced();
    expect(requests.filter((request) => /RecordEvent|GetEvents/.test(request))).toEqual([]);
    expect((await service.log.stats()).events).toBe(0);
  });

  const PLANTED: readonly (readonly [name: string, planted: Plant, found: string])[] = [
    [
      'a status',
      plant('GET /HelloWorld', () => ({ status: 201 })),
      'the status is 201 in the old service, 200 in the new one',
    ],
    [
      'the status of a fault',
      plant('"http://tempuri.org/Nope"', () => ({ status: 400 })),
      'the status is 400 in the old service, 500',
    ],
    [
      'the status of the service page',
      plant('GET  {}', () => ({ status: 403 })),
      'the status is 403 in the old service, 200',
    ],
    [
      'a content type',
      plant('POST /HelloWorld', field('Content-Type', 'application/xml')),
      'the header field Content-Type is application/xml in the old',
    ],
    [
      'a character set',
      plant(HELLO_11, field('Content-Type', 'text/xml; charset=iso-8859-1')),
      'the header field Content-Type is text/xml; charset=iso-8859-1',
    ],
    [
      'caching',
      plant('GET /HelloWorld', field('Cache-Control', 'no-store')),
      'the header field Cache-Control is no-store in the old',
    ],
    [
      'a challenge',
      plant(HELLO_11, field('WWW-Authenticate', 'Negotiate')),
      'the header field WWW-Authenticate is Negotiate in the old service, not there',
    ],
    [
      'a cookie',
      plant(HELLO_11, field('Set-Cookie', 'ASP.NET_SessionId=secret; path=/')),
      'the header field Set-Cookie is ASP.NET_SessionId in the old',
    ],
    [
      'a result',
      plant(HELLO_11, body('Hello World', 'Hello')),
      'line 5 of the body is <HelloWorldResult>Hello</HelloWorldResult> in the old',
    ],
    [
      'a result over HTTP GET',
      plant('GET /HelloWorld', body('Hello World', 'Hello')),
      'line 2 of the body is <string xmlns="http://tempuri.org/">Hello</string>',
    ],
    [
      'the namespace of a result',
      plant(HELLO_11, body('"http://tempuri.org/"', '"urn:x"')),
      'line 4 of the body is <HelloWorldResponse xmlns="urn:x">',
    ],
    [
      'the text of a fault',
      plant('"http://tempuri.org/Nope"', body('did not recognize', 'rejected')),
      '<faultstring>Server rejected the value',
    ],
    [
      'the code of a fault',
      plant('"http://tempuri.org/Nope"', body('soap:Client', 'soap:Server')),
      '<faultcode>soap:Server</faultcode> in the old',
    ],
    [
      'the detail of a fault',
      plant('"http://tempuri.org/Nope"', body('<detail />', '<detail><a/></detail>')),
      'in the old service, <detail /> in the new one',
    ],
    [
      'the text of an unknown operation',
      plant('GET /Nope', body('not valid', 'wrong')),
      'is Nope Web Service method name is wrong. in the old',
    ],
    [
      'an empty body',
      plant('POST /Nope', () => ({ body: '' })),
      'line 1 of the body is not there in the old service, Nope Web',
    ],
    [
      'the status of a message that cannot be read',
      plant(UNFINISHED_11, () => ({ status: 500 })),
      'the status is 500 in the old service, 400',
    ],
    [
      'a body for a message that cannot be read',
      plant(UNFINISHED_11, () => ({ body: 'Bad Request' })),
      'line 1 of the body is Bad Request in the old',
    ],
    [
      'a fault for a message that cannot be read',
      plant(UNFINISHED_12, body('soap:Receiver', 'soap:Sender')),
      'the status is 500 in the old service, 400',
    ],
    [
      'a fault for a header that must be understood',
      plant('mustUnderstand="true"', body('header t was', 'header was')),
      'the body',
    ],
  ];

  /** What is found in each call where something is changed in what the original was heard to answer. */
  function foundIn(planted: Plant): { name: string; comparison: Comparison }[] {
    return exchanges.map(({ call, old, other }) => {
      const { status, headers, body: content } = old;
      const { SOAPAction, ...rest } = call.headers ?? {};
      const request = [call.method, call.location, SOAPAction ?? JSON.stringify(rest), call.body].join(' ');
      const recorded = { status, headers: Object.fromEntries(headers), body: content.toString() };
      const answer = planted(recorded, request);
      const changed = { ...old, ...answer, headers: lowerCased(answer.headers), body: Buffer.from(answer.body) };
      return { name: call.name, comparison: compareAnswers(call, seen(changed), seen(other)) };
    });
  }

  it.each(PLANTED)('name a difference in %s, and nothing else', (_name, planted, found) => {
    const differing = foundIn(planted).filter(({ comparison }) => comparison.differences.length > 0);
    expect(differing).toHaveLength(1);
    const sentences = differing[0]?.comparison.differences.join('\n');
    expect(sentences).toContain(found);
    expect(sentences).not.toContain('secret');
  });

  it('see the same XML with other prefixes', () => {
    const [first] = foundIn(plant(HELLO_11, body(/soap(?=:(?!\/\/))|(?<=:)soap(?==)/g, 's')));
    expect(first?.comparison).toEqual({ differences: [], intention: undefined, isWrittenDifferently: true });
  });

  it.each([
    ['the case and the space of a media type', plant(HELLO_11, field('content-type', 'Text/XML;charset="UTF-8"'))],
    ['the caching of a fault', plant('"http://tempuri.org/Nope"', field('cache-control', 'private'))],
    ['a field that is different each time', plant(HELLO_11, field('date', 'Mon, 01 Jan 2024 00:00:00 GMT'))],
  ])('see no difference in %s', (_name, planted) => {
    expect(foundIn(planted).flatMap(({ comparison }) => comparison.differences)).toEqual([]);
  });

  it('name differences in the WSDL as well, and call what both have', async () => {
    const { outcome, text } = await replaced(
      plant('?WSDL', body(/<wsdl:port name="WebHookHttp.*?<\/wsdl:port>/gs, '')),
    );
    expect(text).toContain('Service WebHook, port WebHookHttpGet is only in the new service.');
    expect(text).not.toContain('over HTTP');
    expect(outcome).toMatchObject({ differences: 2, failures: 0 });
  });

  it.each(['http://example.com/hooks/', 'http://example.com/hooks', 'urn:shop:hooks'])(
    'find that another namespace, %s, is what a client stumbles over',
    async (namespace) => {
      const other = await startService({ SERVICE_NAMESPACE: namespace });
      for (const [old, now, named] of [
        [service.url, other.url, `http://tempuri.org/ in the old service, ${namespace} in`],
        [other.url, service.url, `${namespace} in the old service, http://tempuri.org/ in`],
      ] as const) {
        const { outcome, text } = await compared(old, now);
        expect(text).toContain(`The target namespace is ${named}`);
        expect(text).toContain('WSDL: 1 difference');
        expect(text).toMatch(
          /HelloWorld over SOAP 1\.1: \d differences\n {2}- the status is 200 in the old service, 500/,
        );
        expect(outcome.differences).toBeGreaterThan(1);
      }
    },
  );

  it.each(['urn:shop:hooks', 'http://example.com/hooks'])('call two services under %s', async (namespace) => {
    const url = async () => (await startService({ SERVICE_NAMESPACE: namespace })).url;
    const asked = { asked: ['RecordEvent', 'GetEvents'] } as const;
    const { outcome, text } = await compared(await url(), await url(), asked);
    expect(outcome).toEqual({ differences: 0, failures: 0, calls: 27 });
    expect(text).toContain(`SERVICE_NAMESPACE=${namespace}`);
    expect(text).toMatch(/HelloWorld over SOAP 1\.1: same/);
  });

  it('show only other addresses for two services with different roots', async () => {
    const other = await startService({ SERVICE_ROOT: 'other' });
    const asked = { asked: ['RecordEvent', 'GetEvents'] } as const;
    const { outcome, text } = await compared(service.url, `${other.url}?wsdl`, asked);
    expect(outcome).toEqual({ differences: 0, failures: 0, calls: 27 });
    expect(text).not.toContain('on purpose');
    expect(text).toContain(`old: ${service.url}`);
    expect(text).toContain(`new: ${other.url}`);
    expect((await other.log.stats()).events).toBe(5);
  });

  it('are shown only where they differ, unless what is the same is asked for', async () => {
    const { text } = await replaced(plant('GET /HelloWorld', body('Hello World', 'Hello')), { isVerbose: false });
    expect(text).toContain('HelloWorld over HTTP GET: 1 difference');
    expect(text).not.toMatch(/: same|Header fields/);
    expect(text).toContain('The same: 13 of 17 calls. --verbose shows them.');
  });

  it('are not the same where both services refuse the caller', async () => {
    const { outcome, text } = await replaced(undefined, { old: service.url });
    expect(outcome.failures).toBe(0);
    const refusing = async () => (await startService({ RATE_LIMIT: '1/1h' })).url;
    const [old, other] = [await refusing(), await refusing()];
    expect(text).not.toContain('refuses');
    const refused = await compared(old, other);
    expect(refused.outcome).toMatchObject({ differences: 0, failures: 17 });
    expect(refused.text).toContain('the new service refuses the caller: 429 Too Many Requests');
  });

  it('say of which no answer came', async () => {
    const { outcome, text } = await replaced((answer, request) => {
      if (request.startsWith('POST /HelloWorld')) return { ...answer, body: ' '.repeat(5 * 1024 * 1024) };
      return answer;
    });
    expect(outcome).toMatchObject({ differences: 0, failures: 1 });
    expect(text).toContain('the old service: the answer is longer than 4096 KiB');
    expect(text).toContain('1 of 17 calls could not be compared');
  });

  it('are shown as one text with a mark at the lines that differ', async () => {
    const original = await startRecordedService(plant('GET /HelloWorld', body('Hello World', 'Hello')));
    const { text } = await compared(original.url, service.url, { isBrief: false });
    expect(text).toContain(
      [
        '  --- old',
        '  +++ new',
        '    200 OK',
        '    Content-Type: text/xml; charset=utf-8',
        '    Cache-Control: private, max-age=0',
        '',
        '    <?xml version="1.0" encoding="utf-8"?>',
        '  - <string xmlns="http://tempuri.org/">Hello</string>',
        '  + <string xmlns="http://tempuri.org/">Hello World</string>',
        '',
      ].join('\n'),
    );
    await original.stop();
  });

  it('are cut where they are long', async () => {
    const original = await startRecordedService(
      plant('GET /Nope', () => ({ body: Array.from({ length: 5000 }, (_, i) => `line ${String(i)}`).join('\n') })),
    );
    const { text } = await compared(original.url, service.url, { isBrief: false, isVerbose: false });
    expect(text).toContain('  - line 100\n');
    expect(text).not.toContain('line 200');
    expect(text).toContain('  … and more lines');
    await original.stop();
  });
});
