import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HttpClient } from '../../../src/cli/http-client';
import { printable } from '../../../src/cli/terminal';
import { plainReason } from '../../../src/util/errors';
import { readService } from '../../../src/cli/compare/wsdl';
import { RECORDED_WSDL } from '../../support/recorded-service';
import { startTarget, type Reaction } from '../../support/target';
import { useTemporaryFolder } from '../../support/temporary-folder';

const folder = useTemporaryFolder();
const client = new HttpClient({ timeout: 5000 });

/** Serves one answer; resolves to what reading a service from there came to. */
async function served(reaction: Reaction, path = '/hooks.asmx', user = '') {
  const target = await startTarget(() => reaction);
  const reading = readService(target.url.replace('//', `//${user}`) + path, client);
  const found = await reading.catch((error: unknown) => error as Error).finally(() => target.close());
  const [asked] = target.received;
  return found instanceof Error
    ? { problem: printable(plainReason(found)), asked, endpoint: undefined }
    : { problem: undefined, asked, endpoint: found.endpoint };
}

describe('the WSDL of a service', () => {
  it.each([
    ['/hooks.asmx', '/hooks.asmx?WSDL', '/hooks.asmx'],
    ['/hooks.asmx?wsdl', '/hooks.asmx?wsdl', '/hooks.asmx'],
    ['/hooks.svc?singleWsdl#x', '/hooks.svc?singleWsdl', '/hooks.svc'],
    ['/hooks.wsdl', '/hooks.wsdl?WSDL', undefined],
  ])('is read from %s', async (path, asked, endpoint) => {
    const found = await served({ status: 200, body: RECORDED_WSDL }, path);
    expect([found.asked?.path, found.endpoint?.pathname, found.endpoint?.search ?? '']).toEqual([asked, endpoint, '']);
  });

  it('is not looked for where the service redirects, and the message names that address', async () => {
    const redirect = { status: 302, headers: { Location: '/new.asmx?WSDL' } };
    const { problem, asked } = await served(redirect, '/old.asmx', 'me:secret@');
    expect(asked?.headers.authorization).toBe(`Basic ${Buffer.from('me:secret').toString('base64')}`);
    expect(problem).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/old\.asmx\?WSDL answered 302 Found: it redirects to http:\/\/127\.0\.0\.1:\d+\/new\.asmx\?WSDL\./,
    );
  });

  it('cannot be read where the service wants a login, and the message says how to give it', async () => {
    expect((await served(401)).problem).toMatch(
      /answered 401 Unauthorized\. Save its \?WSDL .* write http:\/\/user:password@host/,
    );
  });

  it.each<[string, Reaction, string]>([
    ['an error', 500, 'answered 500 Internal Server Error. Check the address. If it shows no'],
    ['a page', { status: 200, body: '<html><br></html>' }, 'It is an HTML page, not a WSDL.'],
    ['too much', { status: 200, body: ' '.repeat(5 * 1024 * 1024) }, 'the answer is longer than 4096 KiB'],
    ['no answer', 'close', 'cannot be read: the connection was closed before the answer was complete'],
    ['what a terminal obeys', { status: 200, body: '<a b="\u202e\u009b2J"><' }, 'cannot be read as a WSDL: '],
  ])('cannot be read from %s', async (_name, reaction, message) => {
    const { problem } = await served(reaction);
    expect(problem).toContain(message);
    expect(problem).toMatch(/^[\x20-\x7e]*$/);
  });

  it.each([
    ['', / cannot be read: .* An address begins with http:\/\/ or https:\/\/\.$/],
    ['https://', /: it does not speak TLS at this port\..* Write http:\/\/ if it has no TLS/],
  ])('is not read by the wrong scheme %j, and the message says which one is right', async (scheme, message) => {
    const target = await startTarget();
    const reading = readService(target.url.replace('http://', scheme), client).finally(() => target.close());
    await expect(reading).rejects.toThrow(message);
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
