import { postgresAddress, type PostgresAddress } from '../../../src/log/postgres/address';
import { PostgresConnection } from '../../../src/log/postgres/connection';

it('a statement for a database that is away is not tried again after the log is closed', async () => {
  const address = postgresAddress('postgres://user@127.0.0.1:1/database') as PostgresAddress;
  const settings = { timeout: 60_000, retention: { maxEvents: undefined, maxAge: undefined } };
  const connection = new PostgresConnection(address, settings, undefined);
  const failed = expect(connection.query('SELECT 1')).rejects.toThrow('ECONNREFUSED');
  await connection.close();
  await failed;
});
