import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { HttpClient } from '../../../src/cli/http-client';
import { readService, WsdlError, type ComparedService } from '../../../src/cli/compare/wsdl';
import { RECORDED_WSDL } from '../../support/recorded-service';
import { useTemporaryFolder } from '../../support/temporary-folder';

const folder = useTemporaryFolder();
const client = new HttpClient({ timeout: 5000 }, 4 * 1024 * 1024);

/** Serves one answer; resolves to what reading a service from there came to. */
async function served(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  path = '/hooks.asmx',
  user = '',
): Promise<{ service: ComparedService | undefined; error: Error | undefined; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  try {
    return { service: await readService(`http://${user}${host}${path}`, client), error: undefined, requests };
  } catch (error) {
    expect(error).toBeInstanceOf(WsdlError);
    return { service: undefined, error: error as Error, requests };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const WSDL_ANSWER = (_request: IncomingMessage, response: ServerResponse): void => {
  response.end(RECORDED_WSDL);
};

describe('the WSDL of a service', () => {
  it.each([
    ['/hooks.asmx', '/hooks.asmx?WSDL', '/hooks.asmx'],
    ['/hooks.asmx?wsdl', '/hooks.asmx?wsdl', '/hooks.asmx'],
    ['/hooks.svc?singleWsdl#x', '/hooks.svc?singleWsdl', '/hooks.svc'],
  ])('is read from %s', async (path, asked, endpoint) => {
    const { service, requests } = await served(WSDL_ANSWER, path);
    expect(requests.map(({ url }) => url)).toEqual([asked]);
    expect(service?.endpoint?.pathname).toBe(endpoint);
    expect(service?.endpoint?.search).toBe('');
  });

  it('is not looked for where the service redirects, and the message names that address', async () => {
    const { error, requests } = await served(
      (_request, response) => response.writeHead(302, { Location: '/new.asmx?WSDL' }).end(),
      '/old.asmx',
      'me:secret@',
    );
    expect(requests.map(({ headers }) => headers.authorization)).toEqual([
      `Basic ${Buffer.from('me:secret').toString('base64')}`,
    ]);
    expect(error?.message).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/old\.asmx\?WSDL answered 302 Found: it redirects to http:\/\/127\.0\.0\.1:\d+\/new\.asmx\?WSDL\./,
    );
  });

  it('cannot be read where the service wants a login, and the message says how to give it', async () => {
    const { error } = await served((_request, response) => response.writeHead(401).end());
    expect(error?.message).toMatch(/answered 401 Unauthorized\. Save its \?WSDL .* write http:\/\/user:password@host/);
  });

  it.each<[string, (request: IncomingMessage, response: ServerResponse) => void, string]>([
    [
      'an error',
      (_, response) => response.writeHead(500).end(),
      'answered 500 Internal Server Error. Check the address. If it shows no',
    ],
    ['a page', (_, response) => response.end('<html><br></html>'), 'It is an HTML page, not a WSDL.'],
    ['too much', (_, response) => response.end(' '.repeat(5 * 1024 * 1024)), 'the answer is longer than 4096 KiB'],
    [
      'half an answer',
      (_, response) => response.writeHead(200, { 'Content-Length': 9 }).write('a', () => response.destroy()),
      'cannot be read: the connection was closed before the answer was complete',
    ],
    ['what a terminal obeys', (_, response) => response.end('<a b="\u202e\u009b2J"><'), 'cannot be read as XML'],
  ])('cannot be read from %s', async (_name, answer, message) => {
    const { error } = await served(answer);
    expect(error?.message).toContain(message);
    expect(error?.message).toMatch(/^[\x20-\x7e]*$/);
  });

  it.each([
    [
      (port: string) => `127.0.0.1:${port}/hooks.asmx`,
      / cannot be read: .* An address begins with http:\/\/ or https:\/\/\.$/,
    ],
    [
      (port: string) => `https://127.0.0.1:${port}/`,
      /: it does not speak TLS at this port\. Write http:\/\/ if it has no TLS/,
    ],
  ])('is not read by a wrong scheme, and the message says which one is right', async (address, message) => {
    const server = createServer((_request, response) => response.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await expect(readService(address(String(port)), client)).rejects.toThrow(message);
    server.close();
  });

  it('can be a file, also one in UTF-16', async () => {
    const file = join(folder.path, 'old.wsdl');
    await writeFile(file, Buffer.from(`\ufeff${RECORDED_WSDL.replace('utf-8', 'utf-16')}`, 'utf16le'));
    const service = await readService(file, client);
    expect(service.endpoint).toBeUndefined();
    expect(service.wsdl.protocols).toEqual(['SOAP 1.1', 'SOAP 1.2', 'HTTP GET', 'HTTP POST']);
  });

  it.each([
    ['missing.wsdl', 'there is no such file'],
    ['.', 'it is a folder'],
    ['http://', 'The address is not valid'],
  ])('cannot be read from %s', async (name, message) => {
    await expect(readService(name, client)).rejects.toThrow(message);
  });
});
