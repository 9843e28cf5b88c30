import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openSqliteLog } from '../../src/log/sqlite/event-log';
import { eventually } from '../support/eventually';
import { Load } from '../support/load';
import { freePort } from '../support/program.cjs';
import { startProcess } from '../support/process';
import { startTarget } from '../support/target';
import { startTcpProxy } from '../support/tcp-proxy';
import { useTemporaryFolder } from '../support/temporary-folder';
import { startTool } from '../support/tool';

const KILLS = Number(process.env.TIMES ?? 4);
const KEY = 'read-key-of-16-characters';

describe('the log of a service elsewhere', () => {
  const folder = useTemporaryFolder();

  it(
    `has each event once, in order, for a follower and a forwarder, through ${String(KILLS)} kills and cuts while events come`,
    async () => {
      const [there, here] = ['there', 'here'].map((name) => join(folder.path, name)) as [string, string];
      await Promise.all([mkdir(there), mkdir(here)]);
      await writeFile(join(here, 'key'), KEY);
      const port = await freePort();
      const proxy = await startTcpProxy(port);
      const variables = { PORT: String(port), READ_KEYS: KEY, EVENT_LOG: 'sqlite:events.db' };
      let service = await startProcess(variables, there);
      const { url } = service;
      const target = await startTarget();
      const source = [
        '--since',
        '0',
        '--from',
        url.replace(`:${String(port)}`, `:${String(proxy.port)}`),
        '--key-file',
        'key',
      ];
      const forwarder = startTool(['forward', target.url, '--follow', ...source], {}, here);
      const follower = startTool(['follow', ...source], {}, here);

      const load = new Load(() => url, { callers: 2, size: () => 6000 });
      // A tool whose first request fails ends.
      await eventually('both have begun', () => target.received.length > 0 && follower.output() !== '');
      for (let i = 0; i < KILLS; i++) {
        await load.goesOn(20);
        if (i % 3 === 2) {
          await proxy.loseAnswer();
          continue;
        }
        await delay((i * 37) % 100);
        expect(await service.end('SIGKILL')).toBe('SIGKILL');
        // Long enough to be missed, every other time.
        if (i % 2 === 1) await delay(800);
        service = await startProcess(variables, there);
      }
      await load.stop();

      const log = await openSqliteLog({ file: join(there, 'events.db') });
      const ids: string[] = [];
      for await (const page of log.pages({ after: 0 })) ids.push(...page.map(({ id }) => id));
      await log.close();
      const lines = () => follower.output().split('\n').slice(0, -1);
      await eventually('both have the last event', () =>
        [target.received, lines()].every(({ length }) => length >= ids.length),
      );
      expect(await forwarder.end('SIGTERM')).toBe(0);
      expect(await follower.end('SIGTERM')).toBe(0);
      await service.end('SIGTERM');
      await target.close();
      await proxy.close();
      const idsIn = (texts: readonly string[]) => texts.map((text) => (JSON.parse(text) as { id: string }).id);
      expect(idsIn(target.received.map(({ body }) => body.toString()))).toEqual(ids);
      expect(idsIn(lines())).toEqual(ids);
    },
    // A busy machine takes 7 s to start the service, and its readers wait up to 5 s before they ask again.
    60_000 + KILLS * 20_000,
  );
});
