import { openPostgresLog } from '../../src/log/postgres/event-log';
import { describeEventLog } from '../log/event-log-suite';
import { describeServedLog } from '../log/served-log-suite';
import { EVERY_EVENT, outcome, newEvent } from '../support/events';
import { eventually, succeeds } from '../support/eventually';
import { failureOf } from '../support/jetstream';
import { describeWithPostgres, usePostgres } from '../support/postgres';

describeWithPostgres('with PostgreSQL', () => {
  const postgres = usePostgres();
  const { options, opened, sql } = postgres;

  describeEventLog('PostgreSQL', async () => {
    const under = await options();
    return {
      open: (retention = under.retention) => openPostgresLog({ ...under, retention }),
      async remove() {
        await sql('postgres', `DROP DATABASE ${under.database} WITH (FORCE)`);
      },
    };
  });

  describeServedLog('PostgreSQL', postgres, async (port, timeout = 5000) =>
    opened(await options({ hosts: [{ host: '127.0.0.1', port }], timeout })),
  );

  it('has no statement compiled by the server, which takes a hundred times as long as running it', async () => {
    const under = await options({ retention: { maxEvents: 1, maxAge: 1e12 } });
    await sql(under.database, `ALTER DATABASE ${under.database} SET session_preload_libraries = 'auto_explain'`);
    await sql(under.database, `ALTER DATABASE ${under.database} SET auto_explain.log_min_duration = 0`);
    const log = await opened(under);
    await log.append(newEvent(), newEvent({ id: 'repeated' }), newEvent({ id: 'repeated' }));
    await eventually('an event is past retention', async () => (await log.stats()).events === 1);
    await log.read(EVERY_EVENT);
    await log.search({ limit: 10, text: 'x' });
    await log.counts(Array.from({ length: 61 }, (_, minutes) => Date.now() + (minutes - 60) * 60_000));
    expect(postgres.output().includes('UPDATE webhook_log')).toBe(true);
    expect(postgres.output().includes('JIT:')).toBe(false);
  });

  it('keeps names with NUL and half of a character, and shows JSON that jsonb refuses as nothing in the view for reports', async () => {
    const under = await options();
    const log = await opened(under);
    const event = newEvent({ webhookId: 'evt\0', data: '"data":"a\\u0000"' });
    await log.append(event);
    await log.append(newEvent({ data: '"data":{"price":1.10}' }));
    expect(await outcome(log.append(newEvent({ webhookId: 'evt\0', data: event.data })))).toEqual({
      id: event.id,
      recorded: false,
    });
    for (const recorded of [true, false])
      expect(await outcome(log.append(newEvent({ id: 'half \ud800', data: '"data":"\ud800"' })))).toMatchObject({
        recorded,
      });
    expect((await log.read(EVERY_EVENT)).map(({ data }) => data)).toEqual([
      event.data,
      '"data":{"price":1.10}',
      '"data":"\ufffd"',
    ]);
    const rows = await sql(under.database, 'SELECT data FROM webhook_report ORDER BY sequence');
    expect(rows).toEqual([{ data: null }, { data: { price: 1.1 } }, { data: '\ufffd' }]);
    expect(await log.verify()).toEqual([]);
  });

  it('finds what was changed past the service', async () => {
    const under = await options();
    const log = await opened(under);
    await log.append(newEvent(), newEvent(), newEvent());
    await sql(under.database, 'DELETE FROM webhook_events WHERE sequence = 3');
    expect(await log.verify()).toEqual(['The log holds 2 events, and its total says 3.']);
  });

  describe('refuses to open', () => {
    it('tables of another version', async () => {
      const under = await options();
      await (await openPostgresLog(under)).close();
      await sql(under.database, 'UPDATE webhook_log SET version = 2');
      expect(await failureOf(openPostgresLog(under))).toContain(
        'its tables have the version 2, and this release reads 1',
      );
    });

    it.each(['fsync', 'synchronous_commit'])(
      'a server that answers before a commit is on its disk (%s), and to record on one that was opened before',
      async (setting) => {
        const under = await options();
        const log = await opened(under);
        await log.append(newEvent());
        await postgres.set(setting, 'off');
        await eventually('it is refused', async () => !(await succeeds(log.append(newEvent()))));
        for (const refused of [log.append(newEvent()), openPostgresLog(under)])
          expect(await failureOf(refused)).toContain(`the server has ${setting} = off`);
        await postgres.set(setting, 'on');
        await eventually('it is used again', () => succeeds(log.append(newEvent())));
      },
    );

    it('a missing database, a database without a log, another encoding, and a role without rights', async () => {
      const under = await options();
      expect(await failureOf(openPostgresLog({ ...under, database: 'none' }))).toContain(
        'database "none" does not exist',
      );
      expect(await failureOf(openPostgresLog({ ...under, create: false }))).toContain(
        'the database has no tables of an event log',
      );
      await sql('postgres', `CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
      expect(await failureOf(openPostgresLog({ ...under, database: 'latin' }))).toContain('has the encoding LATIN1');
      await sql('postgres', 'CREATE ROLE guest LOGIN');
      expect(await failureOf(openPostgresLog({ ...under, user: 'guest' }))).toContain(
        'needs CREATE on the first schema',
      );
    });
  });
});
