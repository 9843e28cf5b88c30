import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { eventually } from '../../support/eventually';
import { send } from '../../support/http';
import { metricsAt } from '../../support/metrics';
import { makeCertificate } from '../../support/nginx';
import { expectNothingHeld, noBytesHeld } from '../../support/nothing-held';
import { startService } from '../../support/service';
import { temporaryFolder } from '../../support/temporary-folder';
import { describeWith } from '../../support/tools';
import { openWire } from '../../support/wire';

const PATH = '/webhooks/Services/WebHooks.asmx';
const MEBIBYTE = 1024 * 1024;
const VARIABLES = {
  ADMIN_PORT: '0',
  MAX_REQUEST_BYTES: String(MEBIBYTE),
  MAX_BODY_MEMORY: String(2 * MEBIBYTE),
};
/** More than the buffers of the system take on each connection, and what the service may hold. */
const CONNECTIONS = 6;
const CALLS = 8;

const ENVELOPE = `<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><GetEvents xmlns="http://tempuri.org/"><sequence>1</sequence></GetEvents></soap:Body></soap:Envelope>`;
const get = (query: string, fields = '') => `GET ${PATH}${query} HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n`;

const REQUESTS = [
  ['HTTP GET', get('/GetEvents?sequence=1')],
  ['HTTP GET, compressed', get('/GetEvents?sequence=1', 'Accept-Encoding: gzip\r\n')],
  [
    'SOAP',
    `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/xml\r\nContent-Length: ${String(ENVELOPE.length)}\r\n\r\n${ENVELOPE}`,
  ],
  ['a download', get('?event=1&download=data')],
] as const;

describe('callers who do not read large answers get 503 for those beyond the bound', () => {
  it.each(REQUESTS)('over %s', (_how, request) => expectBound(request), 60_000);
});

describe('callers who do not read downloads get 503, or their connections closed, beyond the bound', () => {
  it.each(['?events=export', '?events=export&wait=60', '?events=export&id=1'])(
    'of %s',
    async (query) => {
      const service = await startService(VARIABLES);
      const text = randomBytes(700_000).toString('base64');
      for (let i = 0; i < 10; i++) {
        const event = { specversion: '1.0', id: '1', source: `/${String(i)}`, type: 't', data: text };
        const headers = { 'Content-Type': 'application/cloudevents+json' };
        const body = JSON.stringify(event);
        expect((await send(`${service.url}/RecordEvent`, { method: 'POST', headers, body })).status).toBe(200);
      }
      await noBytesHeld();
      const wires = [];
      for (let i = 0; i < 8; i++) {
        const wire = await openWire(service.url);
        wire.socket.pause();
        wire.write(get(query, 'Connection: close\r\n'));
        wires.push(wire);
      }
      await eventually('downloads are refused', async () => {
        const metrics = await metricsAt(service.adminUrl ?? '');
        return (metrics.get('webhook_refusals_total{reason="busy"}') ?? 0) > 0;
      });
      for (const { socket } of wires) socket.destroy();
      const whole = async () => (await send(service.url + query.replace('&wait=60', ''))).body;
      await eventually('there is room again', async () => (await whole()).split('\n').length > 10);
      await expectNothingHeld(service);
    },
    60_000,
  );
});

describeWith({ openssl: 'openssl' }, 'over TLS too, callers get 503 for those beyond the bound', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    folder = await temporaryFolder();
    await makeCertificate(folder.path);
  });
  afterAll(() => folder.remove());

  it('with HTTP GET', () => {
    const tls = { TLS_CERT: join(folder.path, 'certificate.pem'), TLS_KEY: join(folder.path, 'key.pem') };
    return expectBound(REQUESTS[0][1], tls);
  }, 60_000);
});

async function expectBound(request: string, tls: Readonly<Record<string, string>> = {}): Promise<void> {
  const service = await startService({ ...VARIABLES, ...tls });
  const text = randomBytes(700_000).toString('base64');
  const recorded = await send(`${service.url}/RecordEvent`, {
    method: 'POST',
    headers: { 'Content-Type': 'text/plain' },
    body: text,
  });
  expect(recorded.status).toBe(200);
  await noBytesHeld();
  const wires = await Promise.all(Array.from({ length: CONNECTIONS }, () => openWire(service.url)));
  for (const wire of wires) {
    wire.socket.pause();
    wire.write(request.repeat(CALLS - 1), request.replace('Host:', 'Connection: close\r\nHost:'));
  }
  await eventually('answers are refused', async () => {
    const metrics = await metricsAt(service.adminUrl ?? '');
    return (metrics.get('webhook_refusals_total{reason="busy"}') ?? 0) > 0;
  });
  expect((await send(`${service.url}/HelloWorld`)).status).toBe(200);

  // Once they read, they get the others; then there is room again. Which ones have room depends on which are made first.
  for (const { socket } of wires) socket.resume();
  const received = (await Promise.all(wires.map((wire) => wire.untilClosed()))).join('');
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status);
  expect(statuses).toHaveLength(CONNECTIONS * CALLS);
  expect(statuses).toContain('200');
  expect(received).toContain('MAX_BODY_MEMORY');
  await eventually('there is room again', async () => {
    return (await send(`${service.url}/GetEvents?sequence=1`)).body.length > text.length;
  });
  await expectNothingHeld(service);
}
