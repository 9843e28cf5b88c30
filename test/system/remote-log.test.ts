import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { openSqliteLog } from '../../src/log/sqlite/event-log';
import { eventually } from '../support/eventually';
import { send } from '../support/http';
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
      const forwarder = startTool(['forward', target.url, '--follow', '--as-received', ...source], {}, here);
      const follower = startTool(['follow', ...source], {}, here);

      let isOver = false;
      const recording = (async () => {
        // Some events are larger than what is sent at a time.
        for (let n = 1; !isOver; n++) {
          const body = JSON.stringify({ n, pad: 'x'.repeat(n % 20 === 0 ? 300_000 : 10) });
          const fields = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body };
          await send(`${url}/RecordEvent`, fields).catch(() => delay(50));
        }
      })();
      for (let i = 0; i < KILLS; i++) {
        const before = target.received.length;
        await eventually('events come', () => target.received.length > before + 20);
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
      isOver = true;
      await recording;

      const log = await openSqliteLog({ file: join(there, 'events.db') });
      const payloads: string[] = [];
      for await (const page of log.pages({ after: 0 }))
        payloads.push(...page.map(({ data = '' }) => data.slice('"data":'.length)));
      await log.close();
      const lines = () => follower.output().split('\n').slice(0, -1);
      await eventually('both have the last event', () =>
        [target.received, lines()].every(({ length }) => length >= payloads.length),
      );
      expect(await forwarder.end('SIGTERM')).toBe(0);
      expect(await follower.end('SIGTERM')).toBe(0);
      await service.end('SIGTERM');
      await target.close();
      await proxy.close();
      const numbers = (texts: readonly string[]) => texts.map((text) => (JSON.parse(text) as { n: number }).n);
      expect(numbers(target.received.map(({ body }) => body.toString()))).toEqual(numbers(payloads));
      expect(lines().map((line) => (JSON.parse(line) as { data: { n: number } }).data.n)).toEqual(numbers(payloads));
    },
    // A busy machine takes 7 s to start the service, and its readers wait up to 5 s before they ask again.
    60_000 + KILLS * 20_000,
  );
});
