import { openPostgresLog } from '../../src/log/postgres/event-log';
import { describeWithPostgres, usePostgres } from '../support/postgres';
import { describeEventLog } from '../log/event-log-suite';

describeWithPostgres('with PostgreSQL', () => {
  const postgres = usePostgres();

  describeEventLog('PostgreSQL', async () => {
    const options = await postgres.options();
    return {
      open: (retention = options.retention) => openPostgresLog({ ...options, retention }),
      async remove() {
        await postgres.sql('postgres', `DROP DATABASE ${options.database} WITH (FORCE)`);
      },
    };
  });
});
