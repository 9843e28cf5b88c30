import { DatabaseError, Pool } from 'pg';
import { postgresAddress, type PostgresAddress } from '../../../src/log/postgres/address';
import { PostgresConnection } from '../../../src/log/postgres/connection';
import { checkRecording } from '../../../src/log/postgres/recorder';
import { Deferred } from '../../../src/util/promises';
import { eventually } from '../../support/eventually';
import { newEvent } from '../../support/events';

const connectionTo = (address: string, timeout = 60_000) =>
  new PostgresConnection(postgresAddress(address) as PostgresAddress, { timeout, retention: {} }, undefined);

it('a statement for a database that is away is not tried again after the log is closed', async () => {
  const connection = connectionTo('postgres://user@127.0.0.1:1/database');
  const failed = expect(connection.query('SELECT 1')).rejects.toThrow('ECONNREFUSED');
  await connection.close();
  await failed;
});

it('a server that became read-only is left for the next host', async () => {
  const client = { on: () => client, release: () => undefined };
  const connect = jest.spyOn(Pool.prototype, 'connect').mockResolvedValue(client as never);
  const connection = connectionTo('postgres://user@one,two/database');
  let tries = 0;
  await connection.run(() => {
    if (++tries > 1) return Promise.resolve();
    return Promise.reject(Object.assign(new DatabaseError('read-only', 0, 'error'), { code: '25006' }));
  }, connection.deadline());
  expect(connect.mock.contexts.map((pool) => (pool as Pool).options.host)).toEqual(['one', 'two']);
  connect.mockRestore();
  await connection.close();
});

it('a connection that comes after the deadline is given back', async () => {
  const late = new Deferred();
  const client = { release: jest.fn() };
  const connect = jest
    .spyOn(Pool.prototype, 'connect')
    .mockImplementation(() => late.promise.then(() => client) as never);
  const connection = connectionTo('postgres://user@h/database', 1);
  await expect(connection.query('SELECT 1')).rejects.toThrow('no answer in time');
  late.resolve();
  await eventually('it is given back', () => client.release.mock.calls.length === connect.mock.calls.length);
  connect.mockRestore();
  await connection.close();
});

it('a check that finds no room gives its connection back outside of a transaction', async () => {
  const query = jest.fn((text: string) =>
    /^\w+$/.test(text) ? Promise.resolve() : Promise.reject(new DatabaseError('disk full', 0, 'error')),
  );
  const client = { on: () => client, off: () => client, query, release: () => undefined };
  const connect = jest.spyOn(Pool.prototype, 'connect').mockResolvedValue(client as never);
  const connection = connectionTo('postgres://user@h/database');
  await expect(checkRecording(connection, [newEvent()])).rejects.toThrow('disk full');
  expect([query.mock.calls.at(0), query.mock.calls.at(-1)]).toEqual([['BEGIN'], ['ROLLBACK']]);
  connect.mockRestore();
  await connection.close();
});

it.each([
  ['fsync', 'off', 'on'],
  ['synchronous_commit', 'on', 'off'],
])('a server with %s = off is refused, unless the address accepts it', async (setting, fsync, commit) => {
  const [full, relaxed] = [connectionTo('postgres://h/d'), connectionTo('postgres://h/d?durability=relaxed')];
  expect(() => {
    full.requireDurable(fsync, commit);
  }).toThrow(`the server has ${setting} = off`);
  relaxed.requireDurable(fsync, commit);
  full.requireDurable('on', 'on');
  await Promise.all([full.close(), relaxed.close()]);
});
