import { openPostgresLog } from '../../src/log/postgres/event-log';
import { everyEvent, outcome, newEvent } from '../support/events';
import { eventually } from '../support/eventually';
import { holdUp } from '../support/hold-up';
import { failureOf } from '../support/jetstream';
import { describeWithPostgres, usePostgres } from '../support/postgres';
import { startProcess } from '../support/process';
import { startTcpProxy } from '../support/tcp-proxy';
import { useTemporaryFolder } from '../support/temporary-folder';

/** The end of a sign-in: `ReadyForQuery` of a connection without a transaction. */
const READY = Buffer.from('Z\0\0\0\x05I', 'latin1');

describeWithPostgres('a PostgreSQL server that does not answer', () => {
  const postgres = usePostgres();
  const { options, opened, sql } = postgres;
  const folder = useTemporaryFolder();
  const through = async (port: number) => ({ ...(await options()), hosts: [{ host: '127.0.0.1', port }] });
  const sessions = async () =>
    (await sql('postgres', `SELECT pid, state FROM pg_stat_activity WHERE application_name = 'asmx-webhook'`)) as {
      pid: number;
      state: string;
    }[];

  it('on a connection that dies without a word after signing in is given up in time, and recording goes on', async () => {
    let isMuting = false;
    const proxy = await startTcpProxy(postgres.port(), { mutes: (answer) => isMuting && answer.includes(READY) });
    const log = await openPostgresLog({ ...(await through(proxy.port)), timeout: 1000 });
    const stop = log.watch(() => undefined);
    await log.append(newEvent());
    isMuting = true;
    // The answer to this one is the last that its connection passes on.
    await log.append(newEvent());
    const began = performance.now();
    expect(await failureOf(log.append(newEvent()))).toContain('no answer in time');
    expect(performance.now() - began).toBeLessThan(4000);
    isMuting = false;
    await eventually('events are recorded again', async () => (await outcome(log.append(newEvent()))).recorded);
    isMuting = true;
    stop();
    await log.close();
    await proxy.close();
  }, 30_000);

  it('is left alone after the service was told to stop, which ends without an error', async () => {
    const { database } = await options();
    const proxy = await startTcpProxy(postgres.port());
    const service = await startProcess(
      {
        EVENT_LOG: `postgres://webhook@127.0.0.1:${String(proxy.port)}/${database}?sslmode=disable`,
        EVENT_LOG_TIMEOUT: '4s',
        RETENTION_MAX_EVENTS: '5',
      },
      folder.path,
    );
    await proxy.close();
    expect((await fetch(`${service.url}/RecordEvent`)).status).toBe(503);
    expect(await service.end('SIGTERM')).toBe(0);
    expect(service.output()).not.toContain('end on pool');
  }, 30_000);

  it('since its table is locked is not left with statements, and records none of those that were refused', async () => {
    const under = { ...(await options()), timeout: 1000 };
    const log = await opened(under);
    const locking = sql(under.database, 'BEGIN; LOCK TABLE webhook_events; SELECT pg_sleep(6); COMMIT');
    await eventually('the table is locked', async () => {
      const rows = await sql(under.database, `SELECT FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted`);
      return rows.length > 0;
    });
    const refused = await Promise.all(Array.from({ length: 8 }, () => failureOf(log.append(newEvent()))));
    expect(refused).toEqual(refused.map((): unknown => expect.stringContaining('no answer in time')));
    await eventually('no statement waits there', async () =>
      (await sessions()).every(({ state }) => state !== 'active'),
    );
    await locking;
    expect((await log.read(everyEvent)).length).toBe(0);
    expect((await outcome(log.append(newEvent()))).recorded).toBe(true);
  }, 30_000);

  it('as durably as was promised is found out while it is in use', async () => {
    const log = await opened({ ...(await options()), timeout: 1000 });
    await log.append(newEvent());
    const setting = async (text: string) => {
      await sql('postgres', `ALTER SYSTEM ${text}`);
      await sql('postgres', 'SELECT pg_reload_conf()');
    };
    await setting('SET synchronous_commit = off');
    try {
      await eventually('it is refused', async () =>
        /synchronous_commit = off/.test(
          await outcome(log.append(newEvent())).then(String, (error: Error) => failureOf(Promise.reject(error))),
        ),
      );
    } finally {
      await setting('RESET synchronous_commit');
    }
    await eventually('events are recorded again', async () => (await outcome(log.append(newEvent()))).recorded);
  }, 30_000);

  it('for its standby, and is told to wait no longer, has not made an event durable', async () => {
    const under = { ...(await options()), timeout: 20_000 };
    const log = await opened(under);
    const standbys = async (names: string) => {
      await sql('postgres', `ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
      await sql('postgres', 'SELECT pg_reload_conf()');
    };
    await standbys('nobody');
    await eventually('the setting is in use', async () => {
      const rows = await sql('postgres', 'SHOW synchronous_standby_names');
      return rows[0]?.synchronous_standby_names === 'nobody';
    });
    let isAnswered = false;
    const appending = outcome(log.append(newEvent())).finally(() => (isAnswered = true));
    const cancelled = () =>
      sql(
        'postgres',
        `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = 'asmx-webhook'`,
      );
    await eventually('the wait is cancelled', async () => (await cancelled()).length > 0);
    await eventually('it waits again', async () => (await cancelled()).length > 0);
    expect(isAnswered).toBe(false);
    await standbys('');
    expect((await appending).recorded).toBe(true);
    expect((await log.stats()).events).toBe(1);
  }, 30_000);

  it.each<[string, string]>([
    ['quotes', '\\"'.repeat(1_900_000)],
    ['line breaks', '\\n'.repeat(1_900_000)],
  ])(
    'to a message of %s does not hold up this process while it is sent',
    async (_what, text) => {
      const log = await opened(await options());
      const longest = await holdUp(() => log.append(newEvent({ data: `"data":"${text}"` })), 50);
      expect(longest).toBeLessThan(100);
    },
    30_000,
  );

  it('is reached over a Unix socket, too', async () => {
    const [row] = await sql('postgres', 'SHOW unix_socket_directories');
    const hosts = [{ host: String(row?.unix_socket_directories), port: postgres.port() }];
    const log = await opened({ ...(await options()), hosts, sslmode: 'prefer' });
    expect((await outcome(log.append(newEvent()))).recorded).toBe(true);
  });
});
