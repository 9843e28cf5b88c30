import { searchEvents } from '../../../src/log/postgres/reader';
import type { PostgresConnection } from '../../../src/log/postgres/connection';

it('a step of a search that the server cut by its bytes says that there is more', async () => {
  const row = { total: 3, position: 9, recordedAt: 1, id: null };
  const connection: Partial<PostgresConnection> = { query: () => Promise.resolve([row] as never) };
  const { more, reached } = await searchEvents(connection as PostgresConnection, { text: 'x', limit: 5 });
  expect([more, reached?.position]).toEqual([true, 9]);
});
