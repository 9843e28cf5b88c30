import { forgetEvents, restore, verifyLog } from '../../src/cli/upkeep';
import { readConfig } from '../../src/config/config';
import { EventLogError } from '../../src/log/engine';
import type { EventLog } from '../../src/log/event-log';
import { openMemoryLog } from '../../src/log/memory/event-log';
import { newEvent } from '../support/events';

afterEach(() => jest.restoreAllMocks());

it('restoring a copy is refused for a log on NATS, which nothing is asked for it', async () => {
  const { eventLog } = readConfig({ EVENT_LOG: 'nats://127.0.0.1:1/EVENTS' });
  await expect(restore('copy.db', eventLog)).rejects.toThrow(
    'restore works on a SQLite file. Use import for NATS JetStream.',
  );
});

it('--rewrite is refused where there is no file, before anything is removed', async () => {
  const log = openMemoryLog();
  await log.append(newEvent());
  await expect(forgetEvents({ names: ['1'] }, log, { rewrite: true })).rejects.toThrow(
    '--rewrite works on a SQLite file.',
  );
  expect(await log.stats()).toMatchObject({ events: 1 });
  await log.close();
});

it('verifying finds damage of the log and of events, events out of order, and that they cannot all be read', async () => {
  const findings = jest.spyOn(console, 'log').mockReturnValue();
  const said = jest.spyOn(console, 'error').mockReturnValue();
  const pages = async function* () {
    yield await Promise.resolve([1, 3].map((position) => ({ ...newEvent(), position })));
    yield [2, 4].map((position) => ({ ...newEvent({ arrival: position === 4 ? '7' : '{}' }), position }));
    throw new EventLogError('The disk is broken.');
  };
  const log = { verify: () => Promise.resolve(['A page\u009b is lost.']), pages } as Partial<EventLog> as EventLog;
  expect(await verifyLog(log)).toBe(false);
  expect(findings.mock.calls.flat()).toEqual([
    'A page\\u009b is lost.',
    'Event 00000000000000000002: it does not come after the event before it.',
    'Event 00000000000000000004: its arrival cannot be read.',
    'Reading the events: The disk is broken.',
  ]);
  expect(said.mock.calls.flat()).toEqual(['4 events verified. Findings: 4.']);
});
