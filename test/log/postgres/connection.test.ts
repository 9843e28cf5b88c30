import { EventEmitter, once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { DatabaseError, Pool, type PoolClient } from 'pg';
import { postgresAddress, type PostgresAddress } from '../../../src/log/postgres/address';
import { PostgresConnection } from '../../../src/log/postgres/connection';
import { checkRecording } from '../../../src/log/postgres/recorder';
import { Deferred } from '../../../src/util/promises';
import { eventually } from '../../support/eventually';
import { newEvent } from '../../support/events';

const connections: PostgresConnection[] = [];
const connectionTo = (address: string, timeout = 60_000, authorities?: string) => {
  const settings = { timeout, retention: {}, password: 'given' };
  const options = { ...(postgresAddress(address) as PostgresAddress), ...settings };
  const connection = new PostgresConnection(options, authorities);
  connections.push(connection);
  return connection;
};

/** What a server that can keep a log says of itself. */
const FIT = { standby: 'false', version: '120000', encoding: 'UTF8', fsync: 'on', commit: 'on' };
const fit = () => Promise.resolve({ rows: [FIT] });

const connect = () => jest.spyOn(Pool.prototype, 'connect');
/** Has pools take connections, whose statements `query` answers, unless `reach` rejects. */
const serve = (query: (text: string) => Promise<unknown>, reach = (): Promise<unknown> => Promise.resolve()) =>
  connect().mockImplementation(async function (this: Pool) {
    await reach();
    const client = Object.assign(new EventEmitter(), { query, release: () => undefined });
    await (this.options.onConnect as (connected: unknown) => unknown)(client);
    return client;
  } as never);
/** The settings of each connection that was asked for. */
const asked = () => connect().mock.contexts.map((pool) => (pool as Pool).options);
afterEach(() => Promise.all(connections.splice(0).map((connection) => connection.close())));

it('a statement for a database that is away is not tried again after the log is closed', async () => {
  const end = jest.spyOn(Pool.prototype, 'end');
  serve(fit, () => Promise.reject(new Error('ECONNREFUSED')));
  const failed = expect(connectionTo('postgres://h/d').query('SELECT 1')).rejects.toThrow('ECONNREFUSED');
  await connections.pop()?.close();
  await failed;
  expect(end).toHaveBeenCalledTimes(1);
});

it('a statement that is not answered in time is cancelled, and its connection given back', async () => {
  const received: Buffer[] = [];
  const server = createServer((socket) => socket.on('data', (chunk) => received.push(chunk))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = { processID: 7, secretKey: 9, host: '127.0.0.1', port, release: jest.fn() };
  connect().mockResolvedValue(client as never);
  const connection = connectionTo('postgres://h/d', 20);
  const silence = () => new Promise(() => undefined);
  await expect(connection.run(silence, connection.deadline())).rejects.toThrow('no answer in time');
  await eventually('it is cancelled', () => received.length > 0);
  expect(Buffer.concat(received).toString('hex')).toBe('0000001004d2162e0000000700000009');
  expect(client.release).toHaveBeenCalledTimes(1);
  server.close();
});

it('a server is asked without TLS at its socket, and with the password of the settings', async () => {
  serve(fit);
  const connection = connectionTo('postgres://%2Ftmp/d?sslmode=require');
  const listeners = (client: PoolClient) => Promise.resolve(client.listenerCount('error'));
  // A connection that is lost, idle or not, must not end the process.
  expect(await connection.run(listeners, Infinity)).toBe(1);
  expect((connect().mock.contexts[0] as Pool).listenerCount('error')).toBe(1);
  expect(asked()).toMatchObject([{ host: '/tmp', ssl: false, password: 'given' }]);
});

it.each([
  ['25006', 'on the next host', ['one', 'two']],
  ['57P01', 'on the next host', ['one', 'two']],
  ['08006', 'on the next host', ['one', 'two']],
  ['40P01', 'on this host', ['one', 'one']],
  ['53300', 'on this host', ['one', 'one']],
  ['timeout exceeded when trying to connect', 'on this host', ['one', 'one']],
  ['53100', 'never', ['one']],
  ['42501', 'never', ['one']],
])('statements that fail with %s are tried again %s', async (code, _where, hosts) => {
  serve(fit);
  const connection = connectionTo('postgres://user@one,two/database');
  const attempts: boolean[] = [];
  // Several calls that lose a server at one moment go to the same host.
  const calls = [1, 2].map(() =>
    connection.run((_client, isRepeated) => {
      attempts.push(isRepeated);
      const failure = Object.assign(code.length === 5 ? new DatabaseError('', 0, 'error') : new Error(code), { code });
      return isRepeated ? Promise.resolve('done') : Promise.reject(failure);
    }, connection.deadline()),
  );
  const outcomes = await Promise.allSettled(calls);
  expect(outcomes.map(({ status }) => status)).toEqual(calls.map(() => (hosts.length > 1 ? 'fulfilled' : 'rejected')));
  expect(asked().map(({ host }) => host)).toEqual(hosts.flatMap((host) => [host, host]));
  expect(attempts).toEqual(hosts.flatMap((_host, i) => [i > 0, i > 0]));
});

it('a server without TLS is asked without it, and the next host with it', async () => {
  const reach = jest.fn(() => Promise.resolve());
  reach.mockRejectedValueOnce(new Error('The server does not support SSL connections'));
  reach.mockRejectedValueOnce(new Error('ECONNREFUSED'));
  // A risk that this address accepts.
  serve(() => Promise.resolve({ rows: [{ ...FIT, fsync: 'off', commit: 'off' }] }), reach);
  const connection = connectionTo('postgres://one,two/d?durability=relaxed');
  await connection.query('SELECT 1');
  expect(asked().map(({ host, ssl }) => [host, ssl !== false])).toEqual([
    ['one', true],
    ['one', false],
    ['two', true],
  ]);
});

it.each([
  ['disable', false, false, false],
  ['prefer', false, false, false],
  ['require', false, true, false],
  ['verify-ca', true, true, false],
  ['verify-full', true, true, true],
])('sslmode=%s checks the certificate (%p), with an authority (%p), and its name (%p)', async (sslmode, ...checks) => {
  serve(fit);
  for (const authority of [undefined, 'PEM']) {
    const connection = connectionTo(`postgres://h/d?connections=7&sslmode=${sslmode}`, 1000, authority);
    await connection.query('SELECT 1');
  }
  const given = asked().map(({ ssl }) => ssl as Readonly<Record<string, unknown>> | false);
  const verifies = given.map((ssl) => ssl && ssl.rejectUnauthorized);
  expect([...verifies, given.every((ssl) => ssl && ssl.checkServerIdentity === undefined)]).toEqual(checks);
  expect(asked()).toMatchObject([{ max: 7 }, { max: 7 }]);
});

it.each([
  ['a standby', { standby: 'true' }, 'is a standby'],
  ['too old', { version: '110022' }, 'is PostgreSQL 11; the log needs 12 or later'],
  ['for another encoding', { encoding: 'LATIN1' }, 'has the encoding LATIN1'],
  ['set to fsync = off', { fsync: 'off' }, 'has fsync = off'],
  ['set to synchronous_commit = off', { commit: 'off' }, 'has synchronous_commit = off'],
])('a server that is %s is not used', async (_what, setting, problem) => {
  serve(() => Promise.resolve({ rows: [{ ...FIT, ...setting }] }));
  const connection = connectionTo('postgres://h/d', 1);
  await expect(connection.query('SELECT 1')).rejects.toThrow(problem);
});

it('a call gives up at its deadline, a long one if it cannot begin, with the best reason', async () => {
  const connection = connectionTo('postgres://h/d', 200);
  const now = jest.spyOn(performance, 'now').mockReturnValue(0);
  expect([undefined, 50, 5000].map((waited) => connection.deadline(waited))).toEqual([200, 150, 40]);
  now.mockRestore();
  const reach = jest.fn(() => new Promise<void>(() => undefined)).mockRejectedValueOnce(new Error('ECONNREFUSED'));
  serve(fit, reach);
  await expect(connection.run(() => Promise.resolve(), Infinity)).rejects.toThrow('ECONNREFUSED');
  expect(reach.mock.calls.length).toBeGreaterThan(1);
});

it('a connection that comes after the deadline is given back', async () => {
  const late = new Deferred();
  const client = { release: jest.fn() };
  connect().mockImplementation(() => late.promise.then(() => client) as never);
  const connection = connectionTo('postgres://user@h/database', 1);
  await expect(connection.query('SELECT 1')).rejects.toThrow('no answer in time');
  late.resolve();
  await eventually('it is given back', () => client.release.mock.calls.length === connect().mock.calls.length);
});

it('a call that waits in vain for a connection leaves the host only once that turns out to be away', async () => {
  const answer = new Deferred();
  serve(fit, () => answer.promise);
  const connection = connectionTo('postgres://one,two/d', 1);
  const hostAsked = async () => {
    await connection.query('SELECT 1').catch(() => undefined);
    return asked().at(-1)?.host;
  };
  // Every connection may be in use.
  expect([await hostAsked(), await hostAsked()]).toEqual(['one', 'one']);
  answer.reject(new Error('ECONNREFUSED'));
  await eventually('the next host is asked', async () => (await hostAsked()) === 'two');
});

it('a check that finds no room gives its connection back outside of a transaction', async () => {
  const query = jest.fn((text: string) =>
    text.includes('INSERT') ? Promise.reject(new DatabaseError('disk full', 0, 'error')) : fit(),
  );
  serve(query);
  const connection = connectionTo('postgres://user@h/database');
  const run = jest.spyOn(connection, 'run');
  await expect(checkRecording(connection, [newEvent()])).rejects.toThrow('disk full');
  expect([query.mock.calls.at(1), query.mock.calls.at(-1)]).toEqual([['BEGIN'], ['ROLLBACK']]);
  // `/readyz` waits for a second.
  expect(run.mock.lastCall?.[1]).toBeLessThan(performance.now() + 1000);
  await expect(checkRecording(connection, [])).rejects.toThrow('disk full');
});
