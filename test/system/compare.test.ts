import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { HttpClient } from '../../src/cli/http-client';
import { readService } from '../../src/cli/compare/wsdl';
import { certificateIn } from '../support/program.cjs';
import { RECORDED_WSDL } from '../support/recorded-service';
import { temporaryFolder } from '../support/temporary-folder';
import { describeWith } from '../support/tools';

describeWith({ openssl: 'openssl' }, 'comparing a service over HTTPS', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let server: Server;
  let cert: string;
  beforeAll(async () => {
    folder = await temporaryFolder();
    const { TLS_CERT, TLS_KEY } = certificateIn(folder.path);
    cert = await readFile(TLS_CERT, 'utf8');
    const key = await readFile(TLS_KEY, 'utf8');
    server = createServer({ key, cert, maxVersion: 'TLSv1.2' }, (_request, response) => response.end(RECORDED_WSDL));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await folder.remove();
  });

  const read = (ca: string | undefined, isInsecure: boolean) =>
    readService(
      `https://127.0.0.1:${String((server.address() as AddressInfo).port)}/hooks.asmx`,
      new HttpClient({ ca, isInsecure, timeout: 10_000 }, 4 * 1024 * 1024),
    );

  it('refuses a certificate of an unknown authority and says what to do', async () => {
    await expect(read(undefined, false)).rejects.toThrow(
      'its certificate is signed by itself. --ca FILE names an authority to trust',
    );
  });

  it('takes that of an authority that is named, or any', async () => {
    expect((await read(cert, false)).wsdl.targetNamespace).toBe('http://tempuri.org/');
    expect((await read(undefined, true)).wsdl.targetNamespace).toBe('http://tempuri.org/');
  });
});
