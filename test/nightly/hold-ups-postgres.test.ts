import { describeWithPostgres, usePostgres } from '../support/postgres';
import { expectNoHoldUps } from './hold-ups';

describeWithPostgres('with an event log in PostgreSQL', () => {
  const postgres = usePostgres();

  it('no message within the limits holds up callers for more than 100 ms', async () => {
    const EVENT_LOG = `postgres://webhook@127.0.0.1:${String(postgres.port())}/postgres?sslmode=disable`;
    await expectNoHoldUps('HTTP', 1, { EVENT_LOG });
  }, 600_000);
});
