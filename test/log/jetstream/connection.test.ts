import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { JetStreamApiError } from '@nats-io/jetstream';
import { errors, nkeys } from '@nats-io/transport-node';
import type { JetStreamAddress } from '../../../src/log/jetstream/address';
import { JetStreamConnection, StreamSettingsError } from '../../../src/log/jetstream/connection';
import { eventually } from '../../support/eventually';
import { useTemporaryFolder } from '../../support/temporary-folder';

describe('a connection to NATS', () => {
  const folder = useTemporaryFolder();
  /** What each connection said of itself, and those that are open. */
  let said: { jwt?: string; sig?: string }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    const info = { server_id: 's', version: '2.10.0', proto: 1, headers: true, max_payload: 4096, nonce: 'n' };
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    socket.on('data', (chunk) => {
      for (const line of chunk.toString().split('\r\n'))
        if (line.startsWith('CONNECT ')) said.push(JSON.parse(line.slice(8)) as (typeof said)[0]);
        else if (line === 'PING') socket.write('PONG\r\n');
    });
  });
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
  afterAll(() => server.close());
  beforeEach(() => (said = []));
  const opened = (given: Partial<JetStreamAddress> = {}, timeout = 2000) => {
    const { port } = server.address() as AddressInfo;
    const address = { servers: [`127.0.0.1:${String(port)}`], tls: false, login: undefined, stream: 'E', replicas: 1 };
    return JetStreamConnection.open({ ...address, ...given }, timeout);
  };

  it('says nothing to a server without TLS if it is to be encrypted', async () => {
    await expect(opened({ tls: true, login: { token: 'secret' } }, 100)).rejects.toThrow(
      'no NATS server can be reached',
    );
    expect(said).toEqual([]);
  });

  it('uses the credentials that a file has when it connects, or the earlier ones while it is written', async () => {
    const file = join(folder.path, 'nats.creds');
    const problem = `${file} is not a readable file of NATS credentials`;
    await expect(opened({ login: { file } })).rejects.toThrow(problem);
    await writeFile(file, 'half');
    await expect(opened({ login: { file } })).rejects.toThrow(problem);
    const user = nkeys.createUser();
    const part = (title: string, text: string) => `-----BEGIN ${title}-----\n${text}\n------END ${title}------\n\n`;
    const [first = '', second = ''] = ['first', 'second'].map(
      (jwt) => part('NATS USER JWT', jwt) + part('USER NKEY SEED', Buffer.from(user.getSeed()).toString()),
    );
    await writeFile(file, first);
    const connection = await opened({ login: { file } });
    for (const content of ['half', second]) {
      await writeFile(file, content);
      const before = said.length;
      for (const socket of sockets) socket.destroy();
      await eventually('it connects again', () => said.length > before);
    }
    expect(said.map(({ jwt }) => jwt)).toEqual(['first', 'first', 'second']);
    const nonce = Buffer.from('n');
    for (const { sig = '' } of said) expect(user.verify(nonce, Buffer.from(sig, 'base64url'))).toBe(true);
    await connection.close();
  });

  it('sends nothing while it is lost, goes on when it is back, and is closed in between', async () => {
    const connection = await opened();
    const request = jest.fn(() => Promise.resolve('done'));
    const sent = (timeout: number) =>
      connection.retry(performance.now() + timeout, request).catch(({ message }: Error) => message);
    const lose = async () => {
      for (const socket of sockets) socket.destroy();
      await eventually('it is lost', async () => (await sent(1)) === 'no NATS server can be reached');
      request.mockClear();
    };
    request.mockReturnValueOnce(new Promise(() => undefined));
    expect(await sent(20)).toBe('NATS did not answer in time');
    await lose();
    expect([await sent(5000), request.mock.calls.length]).toEqual(['done', 1]);
    await lose();
    const waiting = sent(60_000);
    await connection.close();
    expect([await waiting, request.mock.calls.length]).toEqual([expect.any(String), 1]);
  });

  const refusal = (code: number, err_code: number) => new JetStreamApiError({ code, err_code, description: 'no' });
  it.each<[string, Error, string]>([
    ['there is no leader', refusal(503, 10008), 'done'],
    ['servers have not found each other', refusal(400, 10005), 'done'],
    ['it was not answered', new errors.TimeoutError(), 'done'],
    ['there is no stream', refusal(404, 10059), 'no'],
    ['there is no room', refusal(500, 10047), 'JetStream has no room for more events: no'],
    ['the account is full', refusal(503, 10023), 'JetStream has no room for more events: no'],
    ['the stream is sealed', new StreamSettingsError('is sealed'), 'is sealed'],
    ['the connection is closed', new errors.ClosedConnectionError(), 'closed connection'],
    ['it is not permitted', new errors.PermissionViolationError('denied', 'publish', 'E'), 'denied'],
  ])('sends a request again only if that may help: %s', async (_what, error, outcome) => {
    const connection = await opened();
    const request = jest.fn().mockResolvedValue('done').mockRejectedValueOnce(error);
    expect(await connection.retry(connection.deadline(), request).catch(({ message }: Error) => message)).toBe(outcome);
    await connection.close();
  });
});
