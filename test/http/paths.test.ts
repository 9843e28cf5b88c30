import { BINDINGS, requestOf } from '../support/bindings';
import { startService, type TestService } from '../support/service';
import { openWire } from '../support/wire';

const PATH = '/webhooks/Services/WebHooks.asmx';

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

describe.each(WRITTEN)('a path with %s', (_how, write) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ ADMIN_PORT: '0' });
  });
  afterAll(() => service.stop());

  const get = async (target: string, url = service.url) => {
    const wire = await openWire(url);
    wire.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    return wire.untilClosed();
  };

  it.each(BINDINGS)('reaches the operations over %s', async (binding) => {
    const { path, method = 'GET', headers = {}, body = '' } = requestOf(binding, 'HelloWorld');
    const fields = Object.entries({ ...headers, 'Content-Length': String(Buffer.byteLength(body)) });
    const wire = await openWire(service.url);
    wire.write(
      `${method} ${write(PATH + path)} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n`,
      `${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
      body,
    );
    const answer = await wire.untilClosed();
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain('>Hello World<');
  });

  it.each(['', '?WSDL', '?op=HelloWorld', '?events'])('reaches the page %j', async (query) => {
    expect(await get(write(PATH) + query)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('reaches the pages of the operator', async () => {
    expect(await get(write('/healthz'))).toMatch(/^HTTP\/1\.1 200 /);
    expect(await get(write('/healthz'), service.adminUrl)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('a path', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const call = async (target: string, method = 'GET') => {
    const wire = await openWire(service.url);
    wire.write(`${method} ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    return wire.untilClosed();
  };
  const count = () => service.log.stats().then(({ events }) => events);

  it.each(['GET', 'POST'])('with another character in place of the dot records nothing with %s', async (method) => {
    const before = await count();
    for (const character of ['X', '-', '%2D', '..', '\\', '']) {
      const target = `${PATH.replace('.', character)}/RecordEvent`;
      expect(await call(target, method)).toMatch(/^HTTP\/1\.1 404 /);
    }
    expect(await count()).toBe(before);
  });

  it.each([`${PATH}%2FHelloWorld`, `${PATH}/..`, `${PATH}/../HelloWorld`, '/%77ebhooks'])(
    '%s is not the path of an operation',
    async (target) => {
      expect(await call(target)).toMatch(/^HTTP\/1\.1 404 /);
    },
  );

  it('keeps the escapes and slashes in its query', async () => {
    await call(`${PATH}/RecordEvent?a=%2F%41//../b`);
    const [event] = await service.log.scan({ after: (await count()) - 1, limit: 1 });
    expect(event?.data).toContain('"/A//../b"');
    expect(event?.arrival).toContain('RecordEvent?a=%2F%41//../b');
  });
});
