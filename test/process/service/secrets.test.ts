import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { envelope11, envelope12 } from '../../support/bindings';
import { send, type Question } from '../../support/http';
import { startProcess } from '../../support/process';
import { startTarget } from '../../support/target';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { runTool } from '../../support/tool';

const READ_KEY = 'read-key+with/odd=signs&more';
const RECORD_KEY = 'record"key\\with/all<kinds>of+signs&=1%';
const STANDARD = `whsec_${Buffer.from('\xff\xfe\xfb'.repeat(12), 'latin1').toString('base64')}`;
const SETTINGS = {
  RECORD_KEYS: `shop ${RECORD_KEY},another-record-key-0`,
  READ_KEYS: `page ${READ_KEY}`,
  WEBHOOK_SECRETS: `${STANDARD},It's a "secret" / to everybody`,
  STRIPE_SECRETS: 'whsec_of/stripe+with=signs',
  SHOPIFY_SECRETS: 'hush-of-shopify/0123',
  SLACK_SECRETS: '8f742231b10e8888abcd99yyyzzz85a5',
  GITLAB_TOKENS: 'token/of+gitlab=01234',
  FORWARD_SECRETS: `whsec_${Buffer.from('\xff\xfb'.repeat(12), 'latin1').toString('base64')}`,
  EVENT_LOG_PASSWORD: 'of/the database+0',
};
const CONFIGURED = Object.values(SETTINGS).flatMap((values) =>
  values.split(',').map((value) => value.replace(/^(?:shop|page) /, '')),
);
/** Not configured here: of another service, or replaced since. */
const UNKNOWN = ['unknown-token-0123/4', 'unknown.token~0123+4==', 'eyJhbGciOi.unknown_JWT-x'];

/** Fields that are kept, shown or logged in a way of their own, and others. */
const FIELDS = ['X-Original-URL', 'Referer', 'User-Agent', 'X-Request-Id', 'tracestate', 'X-Url'].concat(
  Array.from({ length: 14 }, (_, i) => `X-Field-${String(i)}`),
);
const IDS = ['Idempotency-Key', 'webhook-id', 'X-Delivery'];

const hex = (text: string) =>
  [...text].map((character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
const json = (text: string) => JSON.stringify(text).slice(1, -1);

/** How an address with a secret is written; the last ones hold it without the name `access_token`. */
const FORMS: readonly ((secret: string) => string)[] = [
  (secret) => `https://h/x?a=1&access_token=${encodeURIComponent(secret)}&b=2`,
  (secret) => encodeURIComponent(`https://h/x?access_token=${encodeURIComponent(secret)}&b=2`),
  (secret) => encodeURIComponent(encodeURIComponent(`/x?access_token=${secret}&b=2`)),
  (secret) => `/x?access%5Ftoken=${hex(secret)}`,
  (secret) => `{"access_token": "${json(secret)}", "b": "2"}`,
  (secret) => `{"url":"${json(`https://h/x?access_token=${encodeURIComponent(secret)}`).replaceAll('/', '\\/')}"}`,
  (secret) => `{"url":"/x?access_token\\u003d${encodeURIComponent(secret)}\\u0026b=2"}`,
];
const OTHER_FORMS: typeof FORMS = [
  (secret) => secret,
  (secret) => `key=${encodeURIComponent(secret)}; b`,
  (secret) => `"${json(secret)}"`,
  (secret) => `{"k":"${json(secret).replaceAll('/', '\\/')}"}`,
  (secret) => `{"k":"${json(secret).replace(/[&<>=+']/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`)}"}`,
];

/** A text without the ways in which its characters are escaped. */
function plain(text: string): string {
  const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'" };
  let read = text.replace(/<wbr>/g, '');
  for (let round = 0; round < 5; round++)
    read = read
      .replace(/%([\da-f]{2})|\\u00([\da-f]{2})/gi, (_all, one = '', other = '') =>
        String.fromCharCode(parseInt(String(one) + String(other), 16)),
      )
      .replace(/&(\w+|#39|#x27);/g, (all, name: string) => entities[name] ?? all);
  return read.replaceAll('\\', '');
}

const folder = useTemporaryFolder();

it('keys and secrets are found nowhere, wherever a request has them', async () => {
  const settings = { ...SETTINGS, RECORD_PATHS: 'true', ACCESS_LOG: 'true', LOG_LEVEL: 'debug' };
  const service = await startProcess({ ...settings, IDEMPOTENCY_FIELDS: 'x-delivery' }, folder.path);
  const authority = { 'X-API-Key': READ_KEY };
  const statuses: number[] = [];
  const call = async (place: string, question: Question = {}) => {
    statuses.push((await send(service.url + place, question)).status);
  };
  const secrets = [...CONFIGURED, ...UNKNOWN];
  for (const [i, secret] of secrets.entries()) {
    const forms = UNKNOWN.includes(secret) ? FORMS : [...OTHER_FORMS, ...FORMS];
    const headers = Object.fromEntries(
      [...FIELDS, ...IDS].map((field, at) => [
        field,
        // Without the secrets, the keys of two calls would be the same.
        `${forms[(at + i) % forms.length]?.(secret) ?? ''}${IDS.includes(field) ? ` ${String(i)}` : ''}`,
      ]),
    );
    const key = { 'X-API-Key': RECORD_KEY };
    const type = { 'Content-Type': 'application/json' };
    const post = { method: 'POST', body: JSON.stringify({ number: i }) };
    const escaped = encodeURIComponent(secret);
    const token = `access_token=${escaped}`;
    const path = UNKNOWN.includes(secret) ? token : escaped;
    await call('/RecordEvent?a=1', { ...post, headers: { ...headers, ...type, ...key } });
    // The same ids with other data: a hint, and a refusal.
    await call('/RecordEvent', { ...post, body: '{}', headers: { ...headers, ...type, ...key } });
    await call('/RecordEvent', { ...post, body: '{}', headers: { 'webhook-id': headers['X-Url'] ?? '', ...key } });
    await call('/RecordEvent', { ...post, body: '[]', headers: { 'webhook-id': headers['X-Url'] ?? '', ...key } });
    await call('/RecordEvent', { ...post, headers: { ...headers, ...type } });
    await call(`/RecordEvent?${token}&a=1`, { headers });
    await call(`/RecordEvent?a=1&access%5Ftoken=${hex(secret)}`, { headers: { ...headers, ...key } });
    await call(`/RecordEvent/orders/${path}/1?${token}`, { ...post, method: 'PUT', headers: { ...headers, ...key } });
    await call(`/RecordEvent/orders/${path}/1`, { ...post, headers: { ...headers, ...type } });
    await call(`/${path}?${token}`, { headers });
    await call(`/GetEvents?${path}=1`, { headers: { ...headers, ...authority } });
    const others = {
      ...type,
      ...key,
      'Content-Type': `text/plain; charset="${json(UNKNOWN.includes(secret) ? token : secret)}"`,
    };
    await call('/RecordEvent', { ...post, headers: others });
    for (const [envelope, contentType] of [
      [envelope11, 'text/xml'],
      [envelope12, 'application/soap+xml'],
    ] as const)
      for (const namespace of [path, 'http://tempuri.org/'])
        await call('', {
          method: 'POST',
          headers: { ...headers, ...key, 'Content-Type': contentType, SOAPAction: `"${path}"` },
          body: envelope('RecordEvent', '<a/>', namespace),
        });
  }
  expect(new Set(statuses)).toEqual(new Set([200, 401, 422, 500]));

  const target = await startTarget();
  const tool = async (...args: string[]) => {
    const done = await runTool(args, { WEBHOOK_READ_KEY: READ_KEY }, folder.path);
    expect(done.code).toBe(0);
    return done.output;
  };
  await tool('export', 'events.ndjson');
  const printed = await tool('print');
  await tool('forward', target.url, '--since', '0');
  await tool('forward', target.url, '--as-received', '--since', '0');
  const read = async (place: string) => (await send(service.url + place, { headers: authority })).body;
  const exported = await readFile(join(folder.path, 'events.ndjson'), 'utf8');
  const events = Array.from({ length: exported.split('\n').length - 1 }, (_, i) => `?event=${String(i + 1)}`);
  const refusals = await read('?events=refusals');
  const pages = ['?events', '?events=rate', '?events=export', '/GetEvents?limit=100', ...events];
  const shown = await Promise.all(pages.map(read));
  const metrics = (await send(new URL('/metrics', service.url).href, { headers: authority })).body;
  await service.end('SIGTERM');
  await target.close();

  const files = await readdir(join(folder.path, 'data'));
  const texts: Readonly<Record<string, string>> = {
    pages: [refusals, ...shown].join(),
    metrics,
    printed,
    lines: service.output(),
    forwarded: JSON.stringify(target.received.map(({ body, ...rest }) => [rest, body.toString()])),
    exported,
    database: (await Promise.all(files.map((file) => readFile(join(folder.path, 'data', file), 'latin1')))).join(),
  };
  const found = Object.entries(texts).flatMap(([where, text]) => {
    const read = plain(text);
    const at = secrets.map((secret) => [secret, read.indexOf(plain(secret))] as const);
    return at.flatMap(([secret, place]) =>
      place === -1 ? [] : [`${where}: ${secret}: ${read.slice(Math.max(0, place - 120), place + 60)}`],
    );
  });
  expect(found).toEqual([]);
  for (const [where, text] of Object.entries(texts))
    if (where !== 'metrics') expect([where, text.split('***').length > 200]).toEqual([where, true]);
});
