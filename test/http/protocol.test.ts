import { PATH, sendRaw } from '../support/wire';
import { useService } from '../support/service';

const HELLO = `${PATH}/HelloWorld`;

describe('HTTP/1.1', () => {
  const service = useService({ ADMIN_PORT: '0' });
  const exchange = (text: string, url = service.url) => sendRaw(url, text);
  const post = (fields: string, body: string, version = '1.1') =>
    `POST ${HELLO} HTTP/${version}\r\nHost: localhost\r\n${fields}\r\n${body}`;

  it.each([
    ['no Host line', 400, `GET ${HELLO} HTTP/1.1\r\n\r\n`],
    ['no Host line and an absolute target', 400, `GET http://x${HELLO} HTTP/1.1\r\n\r\n`],
    ['two Host lines', 400, `GET ${HELLO} HTTP/1.1\r\nHost: localhost\r\nHost: y\r\n\r\n`],
    ['two Host lines in another case', 400, `GET ${HELLO} HTTP/1.1\r\nhost: x\r\nX: y\r\nHOST: y\r\n\r\n`],
    ['two Host lines of HTTP/1.0', 400, `GET ${HELLO} HTTP/1.0\r\nHost: localhost\r\nHost: y\r\n\r\n`],
    ['a target that is no path', 400, `GET ftp://x${HELLO} HTTP/1.1\r\nHost: localhost\r\n\r\n`],
    ['a fragment', 400, `GET ${HELLO}?a=1#b HTTP/1.1\r\nHost: localhost\r\n\r\n`],
    ['a fragment and an absolute target', 400, `GET http://localhost${HELLO}#b HTTP/1.1\r\nHost: localhost\r\n\r\n`],
    ['gzip before chunked', 501, post('Transfer-Encoding: gzip,\tChunked\r\n', '0\r\n\r\n')],
    ['chunked before gzip', 400, post('Transfer-Encoding: chunked, gzip\r\n', '0\r\n\r\n')],
    ['chunks and a length', 400, post('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', '0\r\n\r\n')],
    ['an unknown coding alone', 400, post('Transfer-Encoding: xchunked\r\n', '0\r\n\r\n')],
    ['two lengths', 400, post('Content-Length: 0\r\nContent-Length: 44\r\n', '')],
    ['a folded field', 400, post('Transfer-Encoding:\r\n chunked\r\nContent-Length: 0\r\n', '')],
    ['a space before a colon', 400, post('Content-Length : 4\r\n', 'a=bc')],
    ['a chunk beyond its size', 400, post('Transfer-Encoding: chunked\r\n', '1\r\nabc\r\n0\r\n\r\n')],
    ['chunk extensions of 100 KB', 413, post('Transfer-Encoding: chunked\r\n', `1;${'x'.repeat(100_000)}`)],
    ['line feeds alone', 400, `POST ${HELLO} HTTP/1.1\nHost: localhost\nContent-Length: 0\n\n`],
    ['a bare CR in a value', 400, post('X-Request-Id: a\rSet-Cookie: b\r\nContent-Length: 0\r\n', '')],
    ['NUL in its target', 400, `GET ${HELLO}\0 HTTP/1.1\r\nHost: localhost\r\n\r\n`],
    ['a version that is not written as it must be', 400, `GET ${HELLO} HTTP/1.11\r\nHost: localhost\r\n\r\n`],
    ['HTTP/2.0', 505, `GET ${HELLO} HTTP/2.0\r\nHost: localhost\r\n\r\n`],
    ['no version', 400, `GET ${HELLO}\r\nHost: localhost\r\n\r\n`],
    ['the preface of HTTP/2', 505, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown expectation', 417, post('Expect: magic\r\nContent-Length: 0\r\n', '')],
    ['CONNECT', 405, 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n'],
  ])('with %s is answered once with %i, and the connection closed', async (_what, status, request) => {
    const text = await exchange(`${request}GET ${HELLO} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    expect([...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => Number(code))).toEqual([status]);
    expect(text).toContain('Connection: close\r\n');
  });

  it.each(['chunked', 'Chunked', ' chunked '])('takes the transfer coding %j', async (coding) => {
    const text = await exchange(
      post(`Connection: close\r\nTransfer-Encoding:${coding}\r\n`, '3\r\na=b\r\n0\r\nX: y\r\n\r\n'),
    );
    expect(text).toMatch(/^HTTP\/1.1 200 /);
  });

  it('of version 1.0 with chunks is answered, and the connection closed', async () => {
    const fields = 'Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n';
    const text = await exchange(post(fields, '3\r\na=b\r\n0\r\n\r\n', '1.0'));
    expect(text).toMatch(/^HTTP\/1.1 200 [\s\S]*\r\nConnection: close\r\n/);
  });

  it.each([
    ['', ''],
    ['Content-Length: 3\r\n', 'a=b'],
  ])(
    'that offers another protocol is answered, and the connection closes before the next request (%j)',
    async (length, body) => {
      const text = await exchange(
        `POST ${HELLO} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n${length}\r\n${body}` +
          `GET ${PATH}/RecordEvent HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      );
      expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
      expect(text).toContain('Connection: close\r\n');
    },
  );

  it.each([
    [100, 200],
    [101, 431],
    [3000, 431],
  ])('with %i header fields is answered once with %i', async (count, status) => {
    const fields = `Host: localhost\r\n${'a:\r\n'.repeat(count - 3)}Connection: close\r\nContent-Length: 3\r\n`;
    const text = await exchange(`POST ${HELLO} HTTP/1.1\r\n${fields}\r\na=b`);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual([`HTTP/1.1 ${String(status)}`]);
    if (status === 431) expect(text).toContain('The header has more than 100 fields or 16384 bytes.');
  });

  it.each(['/healthz', '/readyz', '/metrics', '/'])(
    'the page %s of the operator tells what is allowed',
    async (path) => {
      const ask = (method: string) =>
        exchange(`${method} ${path}?x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`, service.adminUrl);
      expect(await ask('GET')).toMatch(/^HTTP\/1.1 200 /);
      expect(await ask('HEAD')).toMatch(/^HTTP\/1.1 200 [^]*\r\n\r\n$/);
      expect(await ask('OPTIONS')).toMatch(/^HTTP\/1.1 204 [\s\S]*\r\nAllow: GET, HEAD, OPTIONS\r\n/);
      expect(await ask('DELETE')).toMatch(/^HTTP\/1.1 405 [\s\S]*\r\nAllow: GET, HEAD, OPTIONS\r\n/);
    },
  );

  it('OPTIONS * tells what is allowed', async () => {
    const text = await exchange('OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect(text).toMatch(/^HTTP\/1.1 204 [\s\S]*\r\nAllow: GET, HEAD, OPTIONS, POST\r\n/);
  });
});
