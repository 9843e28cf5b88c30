import { Refusals, RefusedCalls, type RefusedCall } from '../../src/telemetry/refused-calls';

const call = (time: number, more: Partial<RefusedCall> = {}): RefusedCall => ({
  time,
  remoteAddress: '192.0.2.1',
  binding: 'soap11',
  operation: 'RecordEvent',
  path: '/WebHooks.asmx',
  status: 500,
  refusal: 'invalid',
  reason: 'It is wrong.',
  requestId: `r${String(time)}`,
  ...more,
});

/** What is kept of a call with these header fields and this body. */
const kept = (headers: Record<string, string>, body?: Buffer) => {
  const calls = new RefusedCalls();
  calls.add(call(1), { method: 'POST', headers }, body && { start: body, bytes: body.length });
  return calls.list().calls[0];
};

describe('the refused calls', () => {
  it('are the last hundred, newest first, each with an id of its own', () => {
    const calls = new RefusedCalls();
    const times = () => calls.list().calls.map(({ time }) => time);
    expect(times()).toEqual([]);
    for (let time = 1; time <= 3; time++) calls.add(call(time));
    expect(calls.list().calls).toMatchObject([call(3), call(2), call(1)]);
    for (let time = 4; time <= 250; time++) calls.add(call(time));
    expect(times()).toEqual(Array.from({ length: 100 }, (_, i) => 250 - i));
    const other = new RefusedCalls();
    other.add(call(1));
    const ids = [...calls.list().calls, ...other.list().calls].map(({ id }) => id);
    expect(new Set(ids).size).toBe(101);
  });

  it('with a rare reason outlive a flood with another one, also of another process', () => {
    const calls = new RefusedCalls();
    const other = new RefusedCalls();
    for (let time = 1; time <= 3; time++) calls.add(call(time, { refusal: 'signature' }));
    for (let time = 4; time <= 500; time++) calls.add(call(time, { refusal: 'rate' }));
    for (let time = 501; time <= 700; time++) other.add(call(time, { refusal: 'rate' }));
    for (const { calls: found } of [calls.list(), Refusals.merged([calls.list(), other.list()])]) {
      expect(found).toHaveLength(100);
      expect(found.slice(-3).map(({ time }) => time)).toEqual([3, 2, 1]);
    }
  });

  it('are all counted', () => {
    const calls = new RefusedCalls();
    for (let time = 1; time <= 250; time++) calls.add(call(time));
    expect(calls.list().callsOfLastHour(300)).toBe(250);
  });

  it('keep only so much of a text', () => {
    const calls = new RefusedCalls();
    const long = 'x'.repeat(100_000);
    calls.add(call(1, { reason: long, path: long, remoteAddress: long, requestId: long }));
    expect(JSON.stringify(calls.list()).length).toBeLessThan(1700);
    expect(calls.list().calls[0]?.reason).toMatch(/^x{500}…$/);
  });

  it('keep the header fields, but none that may hold a secret', () => {
    const secrets = [
      'authorization',
      'proxy-authorization',
      'cookie',
      'x-api-key',
      'x-functions-key',
      'key',
      'webhook-signature',
      'x-hub-signature-256',
      'x-gitlab-token',
      'stripe-signature',
      'x-shopify-hmac-sha256',
      'x-password',
      'x-session-id',
    ];
    const shown = { 'user-agent': 'GitHub-Hookshot/1', 'x-github-delivery': '7', 'idempotency-key': '8' };
    const headers = { ...Object.fromEntries(secrets.map((name) => [name, 'sesame'])), ...shown };
    const { headers: fields, sender, method } = kept(headers) ?? {};
    expect([fields, sender, method]).toEqual([Object.entries(shown), 'Standard Webhooks', 'POST']);
  });

  it('keep only so much of the header fields and of the body', () => {
    const headers = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [`x-${String(i)}`, 'v'.repeat(i === 0 ? 9000 : 10)]),
    );
    const { headers: fields = [], body } = kept(headers, Buffer.alloc(100_000, 'b')) ?? {};
    expect(fields[0]?.[1]).toMatch(/^v{200}…$/);
    expect(JSON.stringify(fields).length).toBeLessThan(4200);
    expect(body).toEqual({ start: 'b'.repeat(4096), bytes: 100_000 });
  });

  it.each([
    ['with a prefix', 'utf8', (header: string) => `<s:Envelope><s:Header>${header}</s:Header><s:Body><a/></s:Body>`],
    ['without one', 'utf8', (header: string) => `<Envelope><Header a="b">${header}</Header><Body/></Envelope>`],
    ['in UTF-16', 'utf16le', (header: string) => `<s:Envelope><s:Header>${header}</s:Header><s:Body><a/></s:Body>`],
    [
      'that is cut',
      'utf8',
      (header: string) => `<s:Envelope><s:Header>${header}${'x'.repeat(5000)}</s:Header><s:Body/>`,
    ],
    ['that ends nowhere', 'utf8', (header: string) => `<s:Envelope><s:Header>${header}`],
  ] as const)('never keep the header of a SOAP message, where a password may be: %s', (_what, encoding, message) => {
    const password = '<w:Password><![CDATA[</s:Header>sesame]]></w:Password>';
    const { start = '' } = kept({}, Buffer.from(message(password), encoding))?.body ?? {};
    expect(start).not.toContain('sesame');
    expect(start).toMatch(/^<(?:s:)?Envelope><(?:s:)?Header>\.\.\./);
    if (message('').includes('<a/>')) expect(start).toContain('<a/>');
  });

  const FAKE_END = '</s:Header><s:Body>';
  it.each([
    ['an end in a comment', `<s:Header><w:Password><!-- ${FAKE_END} -->sesame</w:Password></s:Header><s:Body/>`],
    [
      'an end in a CDATA section',
      `<s:Header><w:Password><![CDATA[${FAKE_END}sesame]]></w:Password></s:Header><s:Body/>`,
    ],
    [
      'an end in a processing instruction',
      `<s:Header><?x ${FAKE_END}?><w:Password>sesame</w:Password></s:Header><s:Body/>`,
    ],
    ['a body in it', '<s:Header><s:Body><w:Password>sesame</w:Password></s:Header><s:Body/>'],
    ['a comment with a header before it', '<!-- <s:Header/><s:Body> --><s:Header>sesame</s:Header><s:Body/>'],
    ['a comment that is cut', `<s:Header><!-- ${FAKE_END} sesame`],
    ['no end', '<s:Header><w:Password Type="<s:Body ">sesame</w:Password>'],
  ])('never keep the header of a SOAP message with %s', (_what, message) => {
    const { start } = kept({}, Buffer.from(`<?xml version="1.0"?><s:Envelope>${message}`))?.body ?? {};
    expect(start).not.toContain('sesame');
  });

  it.each(['+ADw-s:Envelope+AD4', '\n+ADw?xml version+AD0AIg-1.0+ACI?+AD4', '+ADwAcw-:Envelope+AD4'])(
    'keep nothing of a message in UTF-7, in which no header can be found: %s',
    (beginning) => {
      const body = Buffer.from(`${beginning}+ADw-s:Header+AD4-sesame+ADw-/s:Header+AD4-`);
      expect(kept({}, body)?.body).toEqual({ start: '...', bytes: body.length });
    },
  );

  it('of several processes are put together by time, and their numbers are added up', () => {
    const of = (...times: number[]) => {
      const calls = new RefusedCalls();
      for (const time of times) calls.add(call(time));
      return calls.list();
    };
    const { calls, counts } = Refusals.merged([of(2, 4, 6), of(3, 5)]);
    expect(calls.map(({ time }) => time)).toEqual([6, 5, 4, 3, 2]);
    expect(counts).toEqual((['minute', 'hour', 'day'] as const).map((per) => ({ per, from: 0, calls: 5 })));
    const many = of(...Array.from({ length: 100 }, (_, i) => 1000 + i));
    expect(Refusals.merged([of(2, 4, 6), many]).calls).toEqual(many.calls);
  });
});
