import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { openPostgresLog } from '../../src/log/postgres/event-log';
import type { EventLog } from '../../src/log/event-log';
import { EVERY_EVENT, outcome, newEvent } from '../support/events';
import { eventually } from '../support/eventually';
import { failureOf } from '../support/jetstream';
import { certificateIn, freePort, run } from '../support/program.cjs';
import { describeWithPostgres, unprivileged, usePostgres } from '../support/postgres';
import { runToEnd } from '../support/process';
import { useSharedFolder } from '../support/temporary-folder';
import { runTool } from '../support/tool';
import { describeWith, itUnless, missingMount, whileMounted } from '../support/tools';
import { watching } from '../support/watching';

const idsIn = async (log: EventLog) => (await log.read(EVERY_EVENT)).map(({ id }) => id);

describeWithPostgres('a PostgreSQL server', () => {
  // Nothing here crashes the machine.
  const postgres = usePostgres('fsync=off');
  const { opened, sql } = postgres;
  const options: typeof postgres.options = (given) => postgres.options({ isRelaxed: true, ...given });
  const folder = useSharedFolder();
  let cluster: string;
  beforeAll(async () => {
    await chmod(folder.path, 0o755);
    cluster = String((await sql('postgres', 'SHOW data_directory'))[0]?.data_directory);
    const rules = join(cluster, 'pg_hba.conf');
    const before = await readFile(rules, 'utf8');
    await writeFile(
      rules,
      `host all guarded 127.0.0.1/32 scram-sha-256\nhost all plain 127.0.0.1/32 password\nhostssl all encrypted all trust\nhost all encrypted all reject\n${before}`,
    );
    await sql('postgres', `CREATE ROLE guarded SUPERUSER LOGIN PASSWORD 'right'`);
    await sql('postgres', `CREATE ROLE plain SUPERUSER LOGIN PASSWORD 'right'`);
    await sql('postgres', 'CREATE ROLE encrypted SUPERUSER LOGIN');
    await sql('postgres', 'SELECT pg_reload_conf()');
  });

  const addressOf = (database: string, user = 'webhook', port = postgres.port()) =>
    `postgres://${user}@127.0.0.1:${String(port)}/${database}?sslmode=disable&durability=relaxed`;
  /** Why a log cannot be opened. */
  const refusal = async (given: Parameters<typeof options>[0]) =>
    failureOf(openPostgresLog({ ...(await options()), timeout: 1000, ...given }));

  describe('that asks for a password', () => {
    it('says which one is wrong or missing, without the password', async () => {
      const wrong = await refusal({ user: 'guarded', password: 'wr0ng' });
      expect(wrong).toContain(
        'password authentication failed for user "guarded"; see EVENT_LOG_PASSWORD_FILE, PGPASSFILE or PGPASSWORD',
      );
      for (const user of ['guarded', 'plain'])
        expect(await refusal({ user })).toContain(
          'the server asks for a password: give it in EVENT_LOG_PASSWORD_FILE, PGPASSFILE or PGPASSWORD',
        );
      const { code, output } = await runToEnd(
        { EVENT_LOG: addressOf('postgres', 'guarded'), EVENT_LOG_PASSWORD: 'wr0ng' },
        folder.path,
      );
      expect(code).toBe(1);
      expect(output).toContain('password authentication failed for user');
      expect(output + wrong).not.toContain('wr0ng');
    });

    it('gets it from a variable, a file, or the password file of libpq, and nothing else is printed', async () => {
      const { database } = await options();
      await (await openPostgresLog({ ...(await options()), database })).close();
      const files = [join(folder.path, 'password'), join(folder.path, 'pgpass')] as const;
      await writeFile(files[0], 'right\n');
      await writeFile(files[1], `127.0.0.1:*:${database}:guarded:right\n`, { mode: 0o600 });
      const given: Record<string, string>[] = [
        { EVENT_LOG_PASSWORD: 'right' },
        { EVENT_LOG_PASSWORD_FILE: files[0] },
        { PGPASSWORD: 'right' },
        { PGPASSFILE: files[1] },
      ];
      const verified = given.map((variables) =>
        runTool(['verify'], { EVENT_LOG: addressOf(database, 'guarded'), ...variables }, folder.path),
      );
      const errors = '0 events verified. The log is whole.\n';
      expect(await Promise.all(verified)).toEqual(given.map(() => ({ code: 0, output: '', errors })));
    });
  });

  it('without TLS is used with sslmode=prefer, over a Unix socket, too, and refused with sslmode=require', async () => {
    const [row] = await sql('postgres', 'SHOW unix_socket_directories');
    for (const host of ['127.0.0.1', String(row?.unix_socket_directories)])
      await opened(await options({ sslmode: 'prefer', hosts: [{ host, port: postgres.port() }] }));
    expect(await refusal({ sslmode: 'require' })).toContain('The server does not support SSL connections');
  });

  describe('with TLS', () => {
    let authority: string;
    beforeAll(async () => {
      const { uid, gid } = await stat(cluster);
      authority = certificateIn(folder.path, 'authority').TLS_CERT;
      const made = certificateIn(folder.path, 'server', 'authority');
      for (const [name, file] of [
        ['server.crt', made.TLS_CERT],
        ['server.key', made.TLS_KEY],
      ] as const) {
        await writeFile(join(cluster, name), await readFile(file), { mode: 0o600 });
        await chown(join(cluster, name), uid, gid);
      }
      await postgres.set('ssl', 'on');
    });
    afterAll(() => postgres.set('ssl', 'off'));

    it.each(['prefer', 'require', 'verify-ca', 'verify-full'] as const)('is used with sslmode=%s', async (sslmode) => {
      const hosts = [{ host: sslmode === 'verify-full' ? 'localhost' : '127.0.0.1', port: postgres.port() }];
      const sslrootcert = sslmode.startsWith('verify') ? authority : undefined;
      const under = await options({ user: 'encrypted', sslmode, sslrootcert, hosts });
      const log = await opened(under);
      await log.append(newEvent());
      const [row] = await sql(
        'postgres',
        `SELECT bool_and(ssl) AS all FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE datname = '${under.database}'`,
      );
      expect(row).toEqual({ all: true });
    });

    it('says why it is refused', async () => {
      const user = 'encrypted';
      expect(await refusal({ user, sslmode: 'disable' })).toContain('pg_hba.conf rejects connection');
      expect(await refusal({ user, sslmode: 'verify-ca' })).toMatch(
        /(?:certificate|first certificate)[^;]*; name the file of its authority in sslrootcert$/,
      );
      // A name of this machine that the certificate does not have.
      const hosts = [{ host: '127.1', port: postgres.port() }];
      expect(await refusal({ user, hosts, sslmode: 'verify-full', sslrootcert: authority })).toMatch(
        /does not match certificate's altnames/,
      );
      const { TLS_CERT: other } = certificateIn(folder.path, 'other');
      expect(await refusal({ user, sslmode: 'require', sslrootcert: other })).toContain(
        'name the file of its authority',
      );
      expect(await refusal({ user, sslmode: 'require', sslrootcert: 'nowhere.crt' })).toContain('nowhere.crt');
    });
  });

  describe('that denies a right', () => {
    const makeWriter = (database: string, user: string) =>
      sql(
        database,
        `CREATE ROLE ${user} LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_events, webhook_log, webhook_gaps TO ${user}`,
      );
    it.each([
      ['INSERT', 'webhook_events'],
      ['UPDATE', 'webhook_gaps'],
    ])('(%s on %s) is not ready to take events', async (right, table) => {
      const under = await options();
      await (await openPostgresLog(under)).close();
      const user = `without_${right}_${table}`.toLowerCase();
      await makeWriter(under.database, user);
      const log = await opened({ ...under, user });
      await log.check();
      await sql(under.database, `REVOKE ${right} ON ${table} FROM ${user}`);
      const problem = `permission denied for table ${table}; the role has to own the tables of the log`;
      expect(await failureOf(log.check())).toContain(problem);
      expect(await failureOf(log.append(newEvent()))).toContain(problem);
    });

    it('(VACUUM, of those that do not own the table) says that a forgotten event is still on its disk', async () => {
      const under = await options();
      const owned = await opened(under);
      await owned.append(newEvent({ id: 'a' }));
      await makeWriter(under.database, 'writer');
      const log = await opened({ ...under, user: 'writer' });
      expect(await failureOf(log.forget([1]))).toMatch(
        /^The events could not be removed completely\. ---> they are deleted, but pages of the table still hold them: .*webhook_events/,
      );
      expect(await idsIn(log)).toEqual([]);
    });
  });

  /** Locks the table of a log; returns a function that unlocks it. */
  const lockTable = async (database: string) => {
    const holder = new Client({ host: '127.0.0.1', port: postgres.port(), user: 'webhook', database });
    await holder.connect();
    await holder.query('BEGIN; LOCK TABLE webhook_events IN ACCESS EXCLUSIVE MODE');
    return () => holder.end();
  };

  itUnless(
    missingMount,
    'whose disk is full is not ready until there is room again',
    async () => {
      const disk = join(folder.path, 'disk');
      await whileMounted('-t tmpfs -o size=24m tmpfs', disk, async () => {
        await mkdir(join(disk, 'space'), { mode: 0o700 });
        const { uid, gid } = await stat(cluster);
        await chown(join(disk, 'space'), uid, gid);
        await sql('postgres', `CREATE TABLESPACE small LOCATION '${join(disk, 'space')}'`);
        const under = await options();
        await sql('postgres', `ALTER DATABASE ${under.database} SET TABLESPACE small`);
        const log = await opened(under);
        await log.append(newEvent({ id: 'before' }));
        await writeFile(join(disk, 'ballast'), Buffer.alloc(32 * 1024 * 1024)).catch(() => undefined);
        await log.check();
        const large = newEvent({ id: 'large', data: `"data":"${randomBytes(300_000).toString('base64')}"` });
        const problem = 'No space left on device; the disk of the database is full';
        expect(await failureOf(log.append(large))).toContain(problem);
        for (let i = 0; i < 2; i++) expect(await failureOf(log.check())).toContain(problem);
        await rm(join(disk, 'ballast'));
        await log.check();
        expect(await idsIn(log)).toEqual(['before']);
        await log.append(large);
        expect(await log.verify()).toEqual([]);
        await log.close();
        await sql('postgres', `DROP DATABASE ${under.database}`);
        await sql('postgres', 'DROP TABLESPACE small');
      });
    },
    60_000,
  );

  describe('that does not answer', () => {
    it('since its table is locked is not left with statements, and records none of those that were refused', async () => {
      const under = { ...(await options()), timeout: 1000 };
      const log = await opened(under);
      const unlock = await lockTable(under.database);
      const refused = await Promise.all(Array.from({ length: 8 }, () => failureOf(log.append(newEvent()))));
      expect(refused).toEqual(refused.map((): unknown => expect.stringContaining('no answer in time')));
      const active = `SELECT FROM pg_stat_activity WHERE application_name = 'asmx-webhook' AND state = 'active'`;
      await eventually('no statement waits there', async () => (await sql('postgres', active)).length === 0);
      await unlock();
      expect((await log.read(EVERY_EVENT)).length).toBe(0);
      expect((await outcome(log.append(newEvent()))).recorded).toBe(true);
    }, 30_000);

    it('for its standby, and is told to wait no longer, has not made an event durable', async () => {
      const under = { ...(await options()), timeout: 20_000 };
      const log = await opened(under);
      await postgres.set('synchronous_standby_names', 'nobody');
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
      expect(await failureOf(log.check())).toContain('no answer in time');
      await postgres.set('synchronous_standby_names', '');
      expect((await appending).recorded).toBe(true);
      expect((await log.stats()).events).toBe(1);
    }, 30_000);
  });

  describeWith({ pgbouncer: 'pgbouncer' }, 'behind PgBouncer in transaction mode', () => {
    it('keeps the log, and readers that wait hear of new events', async () => {
      const port = await freePort();
      const file = join(folder.path, 'pgbouncer.ini');
      const under = await options({ sslmode: 'prefer' });
      await writeFile(
        file,
        `[databases]\n${under.database} = host=127.0.0.1 port=${String(postgres.port())} user=webhook\n[pgbouncer]\n` +
          `listen_addr = 127.0.0.1\nlisten_port = ${String(port)}\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\n`,
      );
      const bouncer = run(['/usr/sbin/pgbouncer', file], { ...unprivileged(), cwd: '/' });
      try {
        const log = await opened({ ...under, hosts: [{ host: '127.0.0.1', port }] });
        const watch = watching(log);
        const events = Array.from({ length: 40 }, () => newEvent());
        await Promise.all([...events, ...events].map((event) => log.append(event)));
        await watch.reaches(40);
        expect((await log.stats()).events).toBe(40);
        expect(await log.forget([1])).toEqual([1]);
        expect(await log.verify()).toEqual([]);
        await log.close();
      } finally {
        await bouncer.end('SIGTERM');
      }
    });
  });
});
