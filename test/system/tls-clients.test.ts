import { once } from 'node:events';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { startProcess } from '../support/process';
import { certificateIn } from '../support/program.cjs';
import { openConnection, untilClosed } from '../support/wire';
import { useTemporaryFolder } from '../support/temporary-folder';
import { describeWith } from '../support/tools';

describeWith({ openssl: 'openssl' }, 'TLS_CLIENT_CA at SIGHUP', () => {
  const folder = useTemporaryFolder();
  const file = (name: string) => join(folder.path, name);

  async function start() {
    const files = { TLS_CERT: file('first.pem'), TLS_KEY: file('first-key.pem'), TLS_CLIENT_CA: file('ca.pem') };
    return startProcess(files, folder.path);
  }

  it('ends a connection whose handshake was under way, once its authority is removed', async () => {
    for (const name of ['first', 'second']) certificateIn(folder.path, name);
    await copyFile(file('second.pem'), file('ca.pem'));
    const service = await start();
    const client = { cert: await readFile(file('second.pem')), key: await readFile(file('second-key.pem')) };
    const slow = await openConnection(service.url);
    const { port, pathname } = new URL(service.url);
    // Accepted after the other.
    const next = connect({ port: Number(port), host: '127.0.0.1', rejectUnauthorized: false, ...client });
    await once(next, 'secureConnect');
    next.destroy();
    await copyFile(file('first.pem'), file('ca.pem'));
    service.child.kill('SIGHUP');
    await service.logged('settings read again');
    const late = connect({ socket: slow, rejectUnauthorized: false, ...client });
    late.write(`GET ${pathname}/RecordEvent HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    expect(await untilClosed(late)).not.toContain('200');
    expect(await service.end('SIGTERM')).toBe(0);
  });

  it('keeps a connection that resumed its session, whose intermediate certificate Node does not show', async () => {
    certificateIn(folder.path, 'first');
    certificateIn(folder.path, 'middle', 'first');
    certificateIn(folder.path, 'leaf', 'middle');
    await copyFile(file('first.pem'), file('ca.pem'));
    const service = await start();
    const chain = await Promise.all(['leaf', 'middle'].map((name) => readFile(file(`${name}.pem`), 'utf8')));
    const client = { cert: chain.join(''), key: await readFile(file('leaf-key.pem')), rejectUnauthorized: false };
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const record = () =>
      new Promise<TLSSocket>((resolve, reject) => {
        request(`${service.url}/RecordEvent`, { agent, ...client }, (response) => {
          const socket = response.socket as TLSSocket;
          response.resume().on('end', () => {
            resolve(socket);
          });
        })
          .on('error', reject)
          .end();
      });
    const first = await record();
    first.destroy();
    const resumed = await record();
    expect([resumed === first, resumed.isSessionReused()]).toEqual([false, true]);
    await writeFile(file('ca.pem'), `${await readFile(file('first.pem'), 'utf8')}\n`);
    service.child.kill('SIGHUP');
    await service.logged('settings read again');
    expect(await record()).toBe(resumed);
    agent.destroy();
    expect(await service.end('SIGTERM')).toBe(0);
  });
});
