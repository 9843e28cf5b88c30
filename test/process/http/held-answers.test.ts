import { randomBytes } from 'node:crypto';
import { envelope11, post } from '../../support/bindings';
import { eventually } from '../../support/eventually';
import { send } from '../../support/http';
import { metricsAt } from '../../support/metrics';
import { certificateIn } from '../../support/program.cjs';
import { expectNothingHeldAfterEach, noBytesHeld } from '../../support/nothing-held';
import { startService } from '../../support/service';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { itUnless, missingPrograms } from '../../support/tools';
import { openWire, PATH, request } from '../../support/wire';

const folder = useTemporaryFolder();
expectNothingHeldAfterEach();
const MEBIBYTE = 1024 * 1024;
const VARIABLES = {
  ADMIN_PORT: '0',
  MAX_REQUEST_BYTES: String(MEBIBYTE),
  MAX_BODY_MEMORY: String(2 * MEBIBYTE),
};
/** More than the buffers of the system take on each connection, and what the service may hold. */
const CONNECTIONS = 6;
const CALLS = 8;

const TEXT = randomBytes(700_000).toString('base64');
const ENVELOPE = envelope11('GetEvents', '<sequence>1</sequence>');
const get = (query: string, ...fields: string[]) => request(`GET ${PATH}${query}`, ...fields);

const REQUESTS = [
  ['HTTP GET', get('/GetEvents?sequence=1')],
  ['HTTP GET, compressed', get('/GetEvents?sequence=1', 'Accept-Encoding: gzip')],
  ['SOAP', request(`POST ${PATH}`, 'Content-Type: text/xml', `Content-Length: ${String(ENVELOPE.length)}`) + ENVELOPE],
  ['a download', get('?event=1&download=data')],
] as const;

const busy = async (url: string) => (await metricsAt(url)).get('webhook_refusals_total{reason="busy"}') ?? 0;

it.each(REQUESTS)(
  'callers who do not read large answers get 503 for those beyond the bound over %s',
  (_how, asked) => expectBound(asked),
  60_000,
);

it.each(['?events=export', '?events=export&wait=60', '?events=export&id=1'])(
  'callers who do not read downloads of %s get 503, or their connections closed, beyond the bound',
  async (query) => {
    const { url, adminUrl = '' } = await startService(VARIABLES);
    for (let i = 0; i < 10; i++) {
      const event = { specversion: '1.0', id: '1', source: `/${String(i)}`, type: 't', data: TEXT };
      const answer = await post(url, JSON.stringify(event), { 'Content-Type': 'application/cloudevents+json' });
      expect(answer.status).toBe(200);
    }
    await noBytesHeld();
    const wires = await Promise.all(Array.from({ length: 8 }, () => openWire(url)));
    for (const wire of wires) {
      wire.socket.pause();
      wire.write(get(query, 'Connection: close'));
    }
    await eventually('downloads are refused', async () => (await busy(adminUrl)) > 0);
    for (const { socket } of wires) socket.destroy();
    const whole = async () => (await send(url + query.replace('&wait=60', ''))).body;
    await eventually('there is room again', async () => (await whole()).split('\n').length > 10);
  },
  60_000,
);

itUnless(
  missingPrograms({ openssl: 'openssl' }),
  'callers over TLS too get 503 for those beyond the bound',
  () => expectBound(REQUESTS[0][1], certificateIn(folder.path)),
  60_000,
);

async function expectBound(asked: string, tls: Readonly<Record<string, string>> = {}): Promise<void> {
  const { url, adminUrl = '' } = await startService({ ...VARIABLES, ...tls });
  expect((await post(url, TEXT, { 'Content-Type': 'text/plain' })).status).toBe(200);
  await noBytesHeld();
  const wires = await Promise.all(Array.from({ length: CONNECTIONS }, () => openWire(url)));
  for (const wire of wires) {
    wire.socket.pause();
    wire.write(asked.repeat(CALLS - 1), asked.replace('Host:', 'Connection: close\r\nHost:'));
  }
  await eventually('answers are refused', async () => (await busy(adminUrl)) > 0);
  expect((await send(`${url}/HelloWorld`)).status).toBe(200);

  // Once they read, they get the others; then there is room again. Which ones have room depends on which are made first.
  for (const { socket } of wires) socket.resume();
  const received = (await Promise.all(wires.map((wire) => wire.untilClosed()))).join('');
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status);
  expect(statuses).toHaveLength(CONNECTIONS * CALLS);
  expect(statuses).toContain('200');
  expect(received).toContain('MAX_BODY_MEMORY');
  const isWhole = async () => (await send(`${url}/GetEvents?sequence=1`)).body.length > TEXT.length;
  await eventually('there is room again', isWhole);
}
