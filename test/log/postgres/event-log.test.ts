import { postgresAddress, type PostgresAddress } from '../../../src/log/postgres/address';
import { PostgresConnection } from '../../../src/log/postgres/connection';
import { openPostgresLog } from '../../../src/log/postgres/event-log';
import { searchEvents } from '../../../src/log/postgres/reader';
import { Deferred } from '../../../src/util/promises';
import { EVERY_EVENT } from '../../support/events';
import { failureOf } from '../../support/jetstream';

describe('the event log in PostgreSQL', () => {
  const query = () => jest.spyOn(PostgresConnection.prototype, 'query');
  const address = postgresAddress('postgres://h/d?connections=6') as PostgresAddress;
  const opened = () => openPostgresLog({ ...address, timeout: 1000, retention: {} });
  beforeEach(() => query().mockResolvedValue([{ found: true, version: 1 }]));

  it('leaves two connections to commits and small reads', async () => {
    const log = await opened();
    const answer = new Deferred<never[]>();
    query().mockClear().mockReturnValue(answer.promise);
    const reads = Array.from({ length: 10 }, () => log.read(EVERY_EVENT));
    expect(query()).toHaveBeenCalledTimes(4);
    answer.resolve([]);
    await Promise.all(reads);
    await log.close();
  });

  it('forgets all that are named, 500 with a statement, and says so if the server keeps their bytes', async () => {
    const log = await opened();
    const vacuum = jest.spyOn(PostgresConnection.prototype, 'run').mockResolvedValueOnce({});
    const given = (values: readonly unknown[] = []) => values[0] as readonly number[];
    query()
      .mockClear()
      .mockImplementation((_sql, values) => Promise.resolve(given(values).map((position) => ({ position }))));
    const positions = Array.from({ length: 1100 }, (_, i) => i + 1);
    expect(await log.forget(positions)).toEqual(positions);
    expect(query().mock.calls.map(([, values]) => given(values).length)).toEqual([500, 500, 100]);
    vacuum.mockResolvedValueOnce({ warning: 'skipping' });
    expect(await failureOf(log.forget([1]))).toContain('pages of the table still hold them: skipping');
    await log.close();
  });

  it('that cannot be opened leaves no connection open', async () => {
    const close = jest.spyOn(PostgresConnection.prototype, 'close');
    query().mockRejectedValue(new Error('away'));
    expect(await failureOf(opened())).toBe('The event log d on h:5432 cannot be opened. ---> away');
    expect(close).toHaveBeenCalledTimes(1);
  });
});

it('a step of a search that the server cut by its bytes says that there is more', async () => {
  const row = { total: 3, position: 9, recordedAt: 1, id: null };
  const connection: Partial<PostgresConnection> = { query: () => Promise.resolve([row] as never) };
  const { more, reached } = await searchEvents(connection as PostgresConnection, { text: 'x', limit: 5 });
  expect([more, reached?.position]).toEqual([true, 9]);
});
