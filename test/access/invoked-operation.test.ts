import { envelope11, envelope12, NAMESPACE, resultOf } from '../support/bindings';
import { send, type Question } from '../support/http';
import { startService, useService, type TestService } from '../support/service';

const RECORD_KEY = 'record-key-0123456789';
const READ_KEY = 'read-key-0123456789abc';
const LIMIT = 'A message of more than 65536 bytes';
const OPERATIONS = ['RecordEvent', 'GetEvents', 'HelloWorld'] as const;
type Operation = (typeof OPERATIONS)[number];

/** Which of two operations, named outside of the message and inside it, the original calls, and the request that names them. */
type Carrier = readonly ['outside' | 'inside', (outside: Operation, inside: Operation) => Request];
type Request = Question & { readonly path: string };

const soap = (contentType: string, fields: Record<string, string>, body: string) => ({
  path: '',
  method: 'POST',
  headers: { 'Content-Type': contentType, ...fields },
  body,
});
const soapAction = (operation: Operation) => ({ SOAPAction: `"${NAMESPACE}${operation}"` });
const action = (operation: Operation) => `action="${NAMESPACE}${operation}"`;
const SOAP_12 = 'application/soap+xml';

const CARRIERS: Readonly<Record<string, Carrier>> = {
  'SOAP 1.1': ['outside', (out, inside) => soap('text/xml', soapAction(out), envelope11(inside))],
  'SOAP 1.2': ['outside', (out, inside) => soap(`${SOAP_12}; ${action(out)}`, {}, envelope12(inside))],
  'SOAP 1.2 with the header of 1.1': ['inside', (out, inside) => soap('text/xml', soapAction(out), envelope12(inside))],
  'SOAP 1.2 with a SOAPAction': ['inside', (out, inside) => soap(SOAP_12, soapAction(out), envelope12(inside))],
  'SOAP 1.2 with the media type of 1.1 and an action': [
    'outside',
    (out, inside) => soap(`text/xml; ${action(out)}`, soapAction(inside), envelope12(inside)),
  ],
  'HTTP GET with a SOAPAction': ['outside', (out, inside) => ({ path: `/${out}`, headers: soapAction(inside) })],
  'HTTP POST with an envelope': [
    'outside',
    (out, inside) => ({ ...soap('text/xml', soapAction(inside), envelope11(inside)), path: `/${out}` }),
  ],
};

const PAIRS = OPERATIONS.flatMap((outside) => OPERATIONS.map((inside) => [outside, inside] as const));
const TABLE = Object.keys(CARRIERS).flatMap((name) => PAIRS.map((pair) => [name, ...pair] as const));

const open = useService({ ADMIN_PORT: '0' });
const guarded = useService({ RECORD_KEYS: RECORD_KEY, READ_KEYS: READ_KEY });

/** Calls, and tells which operation ran, if one did. */
async function call(service: TestService, carrier: string, pair: readonly [Operation, Operation], fields = {}) {
  const { path, ...question } = (CARRIERS[carrier] as Carrier)[1](...pair);
  const before = (await service.log.stats()).events;
  const answer = await send(service.url + path, { ...question, headers: { ...question.headers, ...fields } });
  const isRecorded = (await service.log.stats()).events > before;
  const result = answer.status === 200 ? resultOf(answer) : undefined;
  const ran = isRecorded ? 'RecordEvent' : result === 'Hello World' ? 'HelloWorld' : result && 'GetEvents';
  return { status: answer.status, ran };
}

describe.each(TABLE)('a request over %s that names %s outside and %s inside', (carrier, outside, inside) => {
  const called = CARRIERS[carrier]?.[0] === 'inside' ? inside : outside;
  const pair = [outside, inside] as const;

  it('calls the one that the original calls', async () => {
    expect(await call(open, carrier, pair)).toEqual({ status: 200, ran: called });
    const keys = { 'X-API-Key': RECORD_KEY, Authorization: `Bearer ${READ_KEY}` };
    expect(await call(guarded, carrier, pair, keys)).toEqual({ status: 200, ran: called });
  });

  it.each([
    ['under a name that was made to lead here', { Host: 'rebound.example' }],
    ['for a page of another site', { 'Sec-Fetch-Site': 'cross-site' }],
  ])('without keys needs the access to that one: %s', async (_what, fields) => {
    const allowed = called === 'HelloWorld' ? { status: 200, ran: called } : { status: 403, ran: undefined };
    expect(await call(open, carrier, pair, fields)).toEqual(allowed);
  });

  it('with keys needs the access to that one', async () => {
    const refused = { status: 401, ran: undefined };
    expect(await call(guarded, carrier, pair)).toEqual(
      called === 'HelloWorld' ? { status: 200, ran: called } : refused,
    );
    for (const [key, opens] of [
      [RECORD_KEY, 'RecordEvent'],
      [READ_KEY, 'GetEvents'],
    ] as const) {
      const { ran } = await call(guarded, carrier, pair, { 'X-API-Key': key });
      expect(ran).toBe(called === opens || called === 'HelloWorld' ? called : undefined);
    }
  });
});

it.each([
  ['SOAP 1.1', (body: string) => soap('text/xml', soapAction('HelloWorld'), body), envelope11],
  ['SOAP 1.2', (body: string) => soap(`${SOAP_12}; ${action('HelloWorld')}`, {}, body), envelope12],
  ['SOAP 1.2 with the header of 1.1', (body: string) => soap('text/xml', soapAction('HelloWorld'), body), envelope12],
  ['HTTP POST', (body: string) => ({ ...soap('text/plain', {}, body), path: '/HelloWorld' }), envelope11],
])('a large message to an open operation needs proof if there are keys: %s', async (_carrier, request, envelope) => {
  const sendLarge = ({ url }: TestService, bytes: number, headers = {}) => {
    const { path, ...question } = request(envelope('HelloWorld', 'x'.repeat(bytes)));
    return send(url + path, { ...question, headers: { ...question.headers, ...headers } });
  };
  const { status, body } = await sendLarge(guarded, 300_000);
  expect(status).toBe(401);
  expect(body).toContain(`${LIMIT} needs a valid key in its header fields, or a valid signature.`);
  for (const wrong of [{ 'X-API-Key': 'wrong' }, { 'webhook-signature': 'v1,x' }])
    expect((await sendLarge(guarded, 300_000, wrong)).status).toBe(401);
  expect((await sendLarge(guarded, 60_000)).status).toBe(200);
  for (const key of [RECORD_KEY, READ_KEY])
    expect((await sendLarge(guarded, 300_000, { 'X-API-Key': key })).status).toBe(200);
  expect((await sendLarge(open, 300_000)).status).toBe(200);
});

describe('a large message from a caller who has proved nothing is refused', () => {
  const body = 'x'.repeat(300_000);

  it.each([{ WEBHOOK_SECRETS: 'a secret of GitHub' }, { READ_KEYS: READ_KEY }])(
    'with %j, also for an operation that is open or only reads, signed or not',
    async (variables) => {
      const service = await startService(variables);
      const signature = { 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}` };
      for (const operation of ['HelloWorld', 'GetEvents'] as const) {
        const { path, ...question } = soap('text/xml', { ...soapAction(operation), ...signature }, body);
        expect((await send(service.url + path, question)).body).toContain(LIMIT);
      }
      const { status } = await send(`${service.url}/RecordEvent`, { method: 'POST', body });
      expect(status).toBe('READ_KEYS' in variables ? 200 : 401);
    },
  );

  it.each([
    ['00', LIMIT],
    ['0'.repeat(64), 'The x-hub-signature-256 is not valid for this body.'],
  ])('also if only the message names the operation, and its signature is %s', async (digits, reason) => {
    const { url } = await startService({ WEBHOOK_SECRETS: 'a secret of GitHub' });
    const message = soap(SOAP_12, { 'X-Hub-Signature-256': `sha256=${digits}` }, envelope12('HelloWorld', body));
    const answer = await send(url, message);
    expect([answer.status, answer.body]).toEqual([401, expect.stringContaining(reason)]);
  });
});
