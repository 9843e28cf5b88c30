import crypto from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { Contract } from '../../src/contract/contract';
import { signerOf, type ReceivedMode } from '../../src/cli/forward/message';
import { Target } from '../../src/cli/forward/target';
import type { StoredEvent } from '../../src/events/stored-event';
import { Sender } from '../../src/senders/sender';
import { NAMESPACE, SOAP_11_NAMESPACE, SOAP_12_NAMESPACE } from '../support/bindings';
import { forgetAll, newEvent } from '../support/events';
import { useService } from '../support/service';
import { startTarget, type Received, type Target as Receiver } from '../support/target';

interface Sent {
  readonly method?: 'GET' | 'POST';
  /** What follows the operation's name, or the endpoint for a SOAP call. */
  readonly place?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** The header fields that a receiver gets with another value, or not at all; `body` if that has other bytes. */
  readonly differs?: readonly string[];
}

const JSON_TYPE = { 'content-type': 'application/json' };
const STRIPE = '{\n  "id": "evt_1",\n  "type": "invoice.paid"\n}';
const COMMAND = 'token=x&command=%2Fdeploy&text=now+or%20never';
const STANDARD_SECRET = `whsec_${Buffer.from('k'.repeat(24)).toString('base64')}`;
const ACTION = `"${NAMESPACE}RecordEvent"`;
const soap11 = (body: string, ...differs: string[]): Sent => ({
  place: '',
  headers: { 'content-type': 'text/xml; charset=utf-8', soapaction: ACTION },
  body,
  differs,
});

/** The message of a client that writes it as the interface document shows it. */
const soapMessage = (prefix: string, namespace: string, body: string) =>
  `<?xml version="1.0" encoding="utf-8"?><${prefix}:Envelope xmlns:${prefix}="${namespace}" ` +
  'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">' +
  `<${prefix}:Body>${body}</${prefix}:Body></${prefix}:Envelope>`;
const PAYLOAD = '<order xsi:type="xsd:string" xmlns:p=\'urn:p\'><p:n>ä &amp; "b"</p:n></order> \r\n <note/><order/>';
const OWN = `<RecordEvent xmlns="${NAMESPACE}">ä</RecordEvent>`;

/** Of another client, with a header. */
const OTHER = `<?xml version='1.0' encoding='UTF-8'?>
<S:Envelope xmlns:S="${SOAP_11_NAMESPACE}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="urn:x">
  <S:Header><o:Security xmlns:o="urn:o"><o:Password>heim</o:Password></o:Security></S:Header>
  <S:Body>
    <RecordEvent xmlns='${NAMESPACE}'>
      ${PAYLOAD}
    </RecordEvent>
  </S:Body>
</S:Envelope>
`;

const FORM = 'application/x-www-form-urlencoded';
const typed = (type: string, body: string | Buffer, place?: string): Sent => ({
  headers: { 'content-type': type },
  body,
  place,
});

const SENT: Readonly<Record<string, Sent>> = {
  'a string of JSON with its quotes': typed('application/json', '"hello \\u00e9"'),
  'a text of another type': typed('text/plain', '"hello"'),
  'a text in another character set': {
    ...typed('text/plain; charset=iso-8859-1', Buffer.from('\u00e9', 'latin1')),
    differs: ['body', 'content-length', 'content-type'],
  },
  'XML whose declaration names its character set': {
    ...typed('application/xml', Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a>\u00e9</a>', 'latin1')),
    differs: ['body', 'content-length', 'content-type'],
  },
  'what is no JSON under its type': typed('application/json', 'hello'),
  'a form whose JSON would be as long': typed(FORM, 'a=%221%22&b=2'),
  'a form whose names are digits': typed(FORM, 'b=1&2=x&1=y'),
  'JSON under the type of a form': typed(FORM, '{"a":"1"}'),
  'a form that says what the query says': typed(FORM, 'a=1', '?a=1'),
  'nothing beside a query': typed(FORM, '', '?a=1'),
  'a form with files whose names are digits': typed(
    'multipart/form-data; boundary=x',
    ['b', '1'].map((name) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n1\r\n`).join('') +
      '--x--\r\n',
  ),
  'a form with files': typed(
    'multipart/form-data; boundary=----WebKitFormBoundaryAbc',
    Buffer.from(
      '------WebKitFormBoundaryAbc\r\nContent-Disposition: form-data; name="a%22b"\r\n\r\nä\r\n' +
        '------WebKitFormBoundaryAbc\r\nContent-Disposition: form-data; name="f"; filename="ö.png"\r\n' +
        'Content-Type: image/png\r\n\r\n\u0089PNG\r\n\r\n------WebKitFormBoundaryAbc--\r\n',
    ),
  ),
  'a form that cannot be decoded': typed(`${FORM}; charset=euc-jp`, 'a=%FF'),
  'a form with files that cannot be read': typed(
    'multipart/form-data; boundary=x',
    Buffer.from('--x\r\n\r\n\u00ff\r\n--x--', 'latin1'),
  ),
  GitHub: {
    headers: { ...JSON_TYPE, 'x-github-event': 'push', 'x-github-delivery': 'd1', 'x-hub-signature-256': 'sha256=ab' },
    body: '{"ref":"ä","n":1.10}',
    differs: ['x-hub-signature-256'],
  },
  Stripe: {
    headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': 't=1,v1=ab' },
    body: STRIPE,
    differs: ['body', 'stripe-signature'],
  },
  Slack: {
    headers: { 'content-type': FORM, 'x-slack-request-timestamp': '1', 'x-slack-signature': 'v0=ab' },
    body: COMMAND,
    differs: ['body', 'content-length', 'x-slack-signature'],
  },
  'Standard Webhooks': {
    headers: { ...JSON_TYPE, ...Sender.standardSignature.sign('msg_1', Buffer.from('{}'), [STANDARD_SECRET]) },
    body: '{"type":"contact.created"}',
    differs: ['webhook-signature'],
  },
  'SOAP 1.1': soap11(soapMessage('soap', SOAP_11_NAMESPACE, OWN)),
  'SOAP without a payload': soap11(soapMessage('soap', SOAP_11_NAMESPACE, `<RecordEvent xmlns="${NAMESPACE}" />`)),
  'SOAP 1.1 of another client': soap11(OTHER, 'body', 'content-length'),
  'SOAP 1.2': {
    place: '?a=b',
    headers: { 'content-type': `application/soap+xml; charset=utf-8; action=${ACTION}` },
    body: soapMessage('soap12', SOAP_12_NAMESPACE, OWN.replace('ä', '<order>ä</order>\n<note/>')),
    differs: ['body', 'content-length'],
  },
  'a form': {
    headers: { 'content-type': FORM, cookie: 'session=heim' },
    body: 'b=1+2&b=%26&a=%C3%A4',
    differs: ['cookie'],
  },
  gzip: {
    headers: { ...JSON_TYPE, 'content-encoding': 'gzip', 'accept-encoding': 'gzip' },
    body: gzipSync('{"a":1}'),
    differs: ['accept-encoding', 'body', 'content-encoding', 'content-length'],
  },
  'a query': {
    method: 'GET',
    place: "?b=1&a=%C3%A4+b&it's",
    headers: { 'x-name': Buffer.from('Müller').toString('latin1'), 'x-other': '\u00e9' },
  },
  'a query without a body': {
    place: '?b=1&a=2',
    headers: {
      'content-length': '0',
      connection: 'x-hop, close',
      'x-hop': '1',
      te: 'trailers',
      authorization: 'a heim',
    },
    differs: ['authorization', 'connection', 'te', 'x-hop'],
  },
  'a CloudEvent in binary mode': {
    headers: { ...JSON_TYPE, 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/s', 'ce-type': 't' },
    body: '{"a":1}',
  },
};

describe('a request that is sent as it arrived', () => {
  const service = useService();
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startTarget();
  });
  // It would record the delivery of another test once.
  afterEach(() => forgetAll(service.log));
  afterAll(() => receiver.close());

  /** Sends a request exactly so, to the service and to the receiver. */
  const sendRaw = async (url: string, { method = 'POST', headers, body = '' }: Sent) => {
    const { origin } = new URL(url);
    const outgoing = request(origin, { path: url.slice(origin.length), method, headers, agent: false }).end(body);
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    await once(answer.resume(), 'end');
    return answer.statusCode;
  };
  const recorded = async (sent: Sent): Promise<StoredEvent> => {
    const last = await service.log.newest();
    const isSoap = /text\/xml|soap/.test(sent.headers['content-type'] ?? '');
    expect(await sendRaw(`${service.url}${isSoap ? '' : '/RecordEvent'}${sent.place ?? ''}`, sent)).toBe(200);
    const [event] = await service.log.scan({ after: last, limit: 1 });
    if (event === undefined) throw new Error('nothing was recorded');
    return event;
  };
  const contract = Contract.load(NAMESPACE);
  const forwarded = async (event: StoredEvent, path: string, signers?: ReceivedMode['signers']): Promise<Received> => {
    const asReceived = { contract: await contract, signers };
    const target = new Target(new URL(receiver.url + path), { asReceived }, { most: 1, longestPause: 0 });
    expect((await target.post(event, new AbortController().signal)).outcome).toBe('delivered');
    return receiver.received.at(-1) as Received;
  };

  it.each(Object.entries(SENT))('has what %s had, but for what is documented', async (_name, sent) => {
    await sendRaw(`${receiver.url}/hook${sent.place ?? ''}`, sent);
    const original = receiver.received.at(-1) as Received;
    const copy = await forwarded(await recorded(sent), '/hook');
    expect([copy.method, copy.path]).toEqual([original.method, original.path]);
    const names = new Set([...Object.keys(original.headers), ...Object.keys(copy.headers)]);
    const differing = [...names].filter((name) => original.headers[name] !== copy.headers[name]);
    if (!copy.body.equals(original.body)) differing.push('body');
    const ofConnection = sent.headers.connection === undefined ? ['connection'] : [];
    expect(differing.filter((name) => !ofConnection.includes(name)).sort()).toEqual(sent.differs ?? []);
    expect(JSON.stringify(copy.headers) + copy.body.toString()).not.toContain('heim');
  });

  it('differs as documented: JSON on one line, forms written anew, not compressed', async () => {
    const bodyOf = async (name: string) =>
      (await forwarded(await recorded(SENT[name] as Sent), '/hook')).body.toString();
    expect(await bodyOf('Stripe')).toBe(STRIPE.replaceAll('\n', ' '));
    expect(await bodyOf('Slack')).toBe(COMMAND.replace('%20', '+'));
    expect(await bodyOf('gzip')).toBe('{"a":1}');
  });

  const secretOf = ({ name }: Sender) =>
    name === 'Standard Webhooks' || name === 'Svix' ? STANDARD_SECRET : 'sixteen characters';
  const signing = Sender.all.filter(({ shortName }) => Sender.recognised.includes(shortName));
  const signers = new Map(
    signing.flatMap((sender) => {
      const signer = signerOf(sender, `${secretOf(sender)}\n`);
      return signer === undefined ? [] : [[sender, signer]];
    }),
  );

  it.each(signing)(
    'is accepted by the check of $name when each event is signed anew as its own sender signs',
    async (sender) => {
      const secret = secretOf(sender);
      const fields = { ...JSON_TYPE, 'svix-id': 'msg_2', [String(sender.field)]: 'v1,x' };
      const event = await recorded(SENT[sender.name] ?? { headers: fields, body: '{}' });
      const { headers, body } = await forwarded(event, '/hook', signers);
      const { setting } = sender.signature as { setting: 'webhookSecrets' };
      const signatures = Sender.signaturesFor({ [setting]: [secret] }).read(headers);
      // It takes 50 ms.
      jest.spyOn(crypto, 'scryptSync').mockReturnValue(Buffer.of());
      expect(await signatures?.signerOf(body)).toMatchObject({ sender });
      if (sender.name === 'Standard Webhooks') expect(headers['webhook-id']).toBe('msg_1');
      if (sender.name === 'Svix') expect(headers['svix-id']).toBe('msg_2');
    },
  );

  it('is a CloudEvent for an event of a batch, and for one whose arrival is not known', async () => {
    const events = [{ specversion: '1.0', id: 'b1', source: '/s', type: 't', data: { a: 1 } }];
    const batch = { 'content-type': 'application/cloudevents-batch+json' };
    const event = await recorded({ headers: batch, body: JSON.stringify(events) });
    const { headers, body } = await forwarded(event, '');
    expect(headers['content-type']).toBe('application/cloudevents+json; charset=utf-8');
    expect(JSON.parse(body.toString())).toMatchObject(events[0] as object);
    expect(body.toString()).not.toContain('"binding"');
    const imported = newEvent({ data: '"data":1', arrival: '{"headers":{"a b":"c","x":"\\n","y":"1"}}' });
    const alone = await forwarded({ ...imported, position: 1 }, '');
    expect(alone.method).toBe('POST');
    expect([alone.headers.y, alone.headers['a b'], alone.headers.x]).toEqual(['1', undefined, undefined]);
    expect(JSON.parse(alone.body.toString())).toMatchObject({ id: imported.id, data: 1 });
  });

  it.each([
    ['the default namespace', `<RecordEvent xmlns="${NAMESPACE}">${PAYLOAD}</RecordEvent>`],
    ['no namespace', `<w:RecordEvent xmlns:w="${NAMESPACE}"><w:a/>${PAYLOAD}</w:RecordEvent>`],
    ['namespaces of its own', `<RecordEvent xmlns="${NAMESPACE}"><a xmlns=""/><b xmlns="urn:b"/></RecordEvent>`],
    ['no elements', `<RecordEvent xmlns="${NAMESPACE}">a &lt; b</RecordEvent>`],
    ['more in the body', `<RecordEvent xmlns="${NAMESPACE}" own="1">${PAYLOAD}</RecordEvent><x xmlns="urn:x"/>`],
    ['attributes of the body', `<S:Body own="1"><RecordEvent xmlns="${NAMESPACE}">${PAYLOAD}</RecordEvent></S:Body>`],
  ])('has the payload of a SOAP call with %s, and is recorded with the same data', async (what, body) => {
    const whole = body.startsWith('<S:Body') ? body : `<S:Body> ${body}</S:Body>`;
    const event = await recorded(soap11(OTHER.replace(/<S:Body>[^]*<\/S:Body>/, () => whole)));
    const { body: sent } = await forwarded(event, '');
    expect((await recorded(soap11(sent.toString()))).data).toBe(event.data);
    if (what === 'no elements') expect(sent.toString()).toContain('>a &lt; b</');
  });
});
