import { join } from 'node:path';
import { chmod } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { eventually, succeeds } from '../support/eventually';
import { readEveryEvent, Load, Reader, verdict, WHOLE } from '../support/load';
import { describeWithPostgres, initPostgres, postgres, sqlAt, startPostgres } from '../support/postgres';
import { startProcess } from '../support/process';
import { freePort } from '../support/program.cjs';
import { useTemporaryFolder } from '../support/temporary-folder';

const ROUNDS = Number(process.env.TIMES ?? 1);
/** How long the calls go on before, between and after the failures, in milliseconds. */
const CALM = process.env.TIMES === undefined ? 500 : 2000;

describeWithPostgres('two instances on a PostgreSQL primary and its synchronous standby', () => {
  const folder = useTemporaryFolder();

  it.each(Array.from({ length: ROUNDS }, (_, i) => i + 1))(
    'lose no answered event, record none twice and skip none for a reader when the primary is killed and restarted, and when its standby takes over: round %i',
    async () => {
      await chmod(folder.path, 0o777);
      const [first, second] = [join(folder.path, 'first'), join(folder.path, 'second')];
      const ports = [await freePort(), await freePort()] as const;
      const replicated = ['synchronous_standby_names=*', 'max_connections=60'];
      // No other server that gets the port of a killed one has a database of this name.
      const database = `run-${randomUUID()}`;
      await initPostgres(first);
      let primary = await startPostgres(first, ports[0], 'max_connections=60');
      const copying = `-h 127.0.0.1 -p ${String(ports[0])} -U webhook -R -X stream -D ${second}`;
      expect(await postgres('pg_basebackup', copying.split(' ')).ended).toBe(0);
      await sqlAt(ports[0], 'postgres', `CREATE DATABASE "${database}"`);
      const standby = await startPostgres(second, ports[1], 'max_connections=60', 'wal_retrieve_retry_interval=500ms');
      await primary.end('SIGINT');
      primary = await startPostgres(first, ports[0], ...replicated);

      const hosts = ports.map((port) => `127.0.0.1:${String(port)}`).join();
      const variables = { EVENT_LOG: `postgres://webhook@${hosts}/${database}?sslmode=disable` };
      const services = [await startProcess(variables, folder.path), await startProcess(variables, folder.path)];
      const urlOf = (caller: number) => services[caller % 2]?.url ?? '';
      const load = new Load(urlOf, { callers: 50, pause: 20, copies: () => 0 });
      const reader = new Reader(() => urlOf(1));
      /** Takes the database away; says how long no call was answered, and for how much of it the database was away. */
      const pauseOf = async (failure: () => Promise<unknown>) => {
        await setTimeout(CALM);
        const began = performance.now();
        await failure();
        const away = performance.now() - began;
        await load.goesOn();
        await setTimeout(2 * CALM);
        return `${String(load.longestPause(began))} ms, ${String(Math.round(away))} of them without a database`;
      };
      const restarted = await pauseOf(async () => {
        await primary.end('SIGKILL');
        await eventually('the primary starts again', () =>
          succeeds(startPostgres(first, ports[0], ...replicated).then((server) => (primary = server))),
        );
      });
      const promoted = await pauseOf(async () => {
        await primary.end('SIGKILL');
        await sqlAt(ports[1], 'postgres', 'SELECT pg_promote()');
      });
      await load.stop();
      const read = await reader.stop();
      console.log(
        `${String(load.answered.length)} answered, ${String(load.failed)} failed; longest pause after the crash ${restarted}; after the promotion ${promoted}`,
      );
      expect(verdict(load, await readEveryEvent(urlOf(1)), read)).toEqual(WHOLE);
      expect(load.answered.length).toBeGreaterThan(50);
      await Promise.all(services.map((service) => service.end('SIGTERM')));
      await standby.end('SIGINT');
    },
    120_000,
  );
});
