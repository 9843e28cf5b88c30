import { join } from 'node:path';
import { Writable } from 'node:stream';
import { startApp } from '../../src/app';
import { readConfig } from '../../src/config/config';
import type { EventLog } from '../../src/log/event-log';
import { openSqliteLog } from '../../src/log/sqlite/event-log';
import { createLogger } from '../../src/telemetry/logger';
import { newEvent } from '../support/events';
import { eventually } from '../support/eventually';
import { openDirectly } from '../support/sqlite';
import { useTemporaryFolder } from '../support/temporary-folder';

const MAX_AGE = 3_600_000;

describe('the lines about an event log', () => {
  let log: EventLog;
  let app: Awaited<ReturnType<typeof startApp>>;
  let lines: { readonly msg: string; readonly reason?: string }[];
  // Before the folder is removed: hooks run in the order in which they stand.
  afterEach(async () => {
    await app.close();
    await log.close();
  });
  const folder = useTemporaryFolder();
  beforeEach(async () => {
    const retention = { maxEvents: undefined, maxAge: MAX_AGE };
    log = await openSqliteLog({ file: file(), retention, retentionPause: 5, busyTimeout: 20 });
    lines = [];
    const stream = new Writable({
      write(line: Buffer, _encoding, done) {
        lines.push(JSON.parse(line.toString()) as (typeof lines)[number]);
        done();
      },
    });
    app = await startApp(readConfig({ PORT: '0' }), log, createLogger('info', stream));
  });

  const file = (): string => join(folder.path, 'events.db');

  const failures = async (): Promise<number> => {
    const metric = await app.metrics.getSingleMetric('webhook_retention_failures_total')?.get();
    return metric?.values[0]?.value ?? 0;
  };

  it('say once that retention fails, and once that it works again; a metric counts each failure', async () => {
    for (let i = 0; i < 2; i++) {
      lines.length = 0;
      const before = await failures();
      // Due once the other has its lock.
      await log.append(newEvent({ recordedAt: Date.now() - MAX_AGE + 200 }));
      const other = openDirectly(file());
      other.exec('BEGIN IMMEDIATE');
      await eventually('retention has failed often', async () => (await failures()) >= before + 5);
      other.exec('ROLLBACK');
      await eventually('retention works again', () => lines.length > 1);
      expect(lines).toMatchObject([
        { level: 'error', msg: 'retention fails, no events are forgotten', reason: 'database is locked' },
        { level: 'info', msg: 'retention works again' },
      ]);
      other.close();
    }
  });
});
