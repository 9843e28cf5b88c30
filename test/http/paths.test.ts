import { Socket } from 'node:net';
import { HttpRequest } from '../../src/http/request';
import { ask, BINDINGS, requestOf } from '../support/bindings';
import { PATH, sendRaw } from '../support/wire';
import { startService, useService } from '../support/service';

/** Ways of writing a path that mean the same (RFC 3986, section 6.2.2), or that IIS takes for the same. */
const WRITTEN: readonly (readonly [string, (path: string) => string])[] = [
  ['a slash more at the beginning', (path) => `/${path}`],
  ['two slashes between the segments', (path) => path.replaceAll('/', '//')],
  ['escaped letters', (path) => path.replace('WebHooks', 'Web%48ook%73')],
  ['an escaped dot', (path) => path.replace('.asmx', '%2Easmx').replace('Services', 'Service%73')],
  ['dot segments before it', (path) => `/./x/..${path}`],
  ['escaped dot segments', (path) => path.replace('/Services', '/other/%2e%2E/Services/%2e')],
  ['more dot segments than there are segments', (path) => `/../..${path}`],
  ['an absolute target', (path) => `http://localhost/x/../${path}`],
];

const service = useService({ ADMIN_PORT: '0' });

const exchange = (target: string, { method = 'GET', fields = '', body = '', url = service.url } = {}) =>
  sendRaw(
    url,
    `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${fields}` +
      `Content-Length: ${String(Buffer.byteLength(body))}\r\n\r\n${body}`,
  );

it.each(WRITTEN)('a path with %s reaches operations and pages', async (_how, write) => {
  for (const binding of BINDINGS) {
    const { path, method, headers = {}, body } = requestOf(binding, 'HelloWorld');
    const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const answer = await exchange(write(PATH + path), { method, fields: fields.join(''), body: String(body ?? '') });
    expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*>Hello World</);
  }
  for (const query of ['', '?WSDL', '?op=HelloWorld', '?events'])
    expect(await exchange(write(PATH) + query)).toMatch(/^HTTP\/1\.1 200 /);
  for (const url of [service.url, service.adminUrl])
    expect(await exchange(write('/healthz'), { url })).toMatch(/^HTTP\/1\.1 200 /);
});

it('a path in any case reaches the operations over every binding, and the name of one may be escaped', async () => {
  const url = service.url.replace(PATH, '/WEBHOOKS/services/webhooks.ASMX');
  for (const binding of BINDINGS) expect((await ask(url, binding, 'HelloWorld')).body).toContain('>Hello World<');
  expect(await exchange(`${PATH}/Hello%57orld`)).toContain('>Hello World<');
});

it('any other path is not that of an operation, and records nothing', async () => {
  for (const character of ['X', '-', '%2D', '..', '\\', ''])
    for (const method of ['GET', 'POST'])
      expect(await exchange(`${PATH.replace('.', character)}/RecordEvent`, { method })).toMatch(/^HTTP\/1\.1 404 /);
  for (const target of [
    `${PATH}%2FHelloWorld`,
    `${PATH}/..`,
    `${PATH}/../HelloWorld`,
    `${PATH};/HelloWorld`,
    '/%77ebhooks',
    `/other${PATH}`,
  ])
    expect(await exchange(target)).toMatch(/^HTTP\/1\.1 404 /);
  for (const name of ['%E0%A4', 'constructor'])
    expect(await exchange(`${PATH}/${name}`)).toMatch(
      new RegExp(`^HTTP/1.1 500 [^]*${name} Web Service method name is not valid`),
    );
  expect((await service.log.stats()).events).toBe(0);
});

it('an absolute target says which host is called, whatever Host says', async () => {
  expect(await exchange(`http://evil.example${PATH}/GetEvents`)).toMatch(/^HTTP\/1\.1 403 /);
  expect(await exchange(`http://localhost:81${PATH}?WSDL`)).toContain(`location="http://localhost:81${PATH}"`);
});

it('keys are taken off the query, whose other fields stay', () => {
  const url = '/x?a=1&access_token=k==&%61ccess_token=l%3D&access_token=&b';
  const request = Object.assign(new HttpRequest(new Socket()), { url });
  request.normalizeTarget();
  expect(request).toMatchObject({ url: '/x?a=1&b', queryString: 'a=1&b', accessTokens: ['k==', 'l='] });
});

it('a query keeps its escapes and slashes', async () => {
  const { url, log } = await startService();
  await exchange(`${PATH}/RecordEvent?a=%2F%41//../b`, { url });
  const [event] = await log.scan({ after: 0, limit: 1 });
  expect(event?.data).toContain('"/A//../b"');
  expect(event?.arrival).toContain('RecordEvent?a=%2F%41//../b');
});
