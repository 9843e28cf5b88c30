import { forgetEvents, restore, verifyLog } from '../../src/cli/upkeep';
import { readConfig } from '../../src/config/config';
import { EventLogError } from '../../src/log/engine';
import type { EventLog } from '../../src/log/event-log';
import { newEvent } from '../support/events';

it('restoring a copy is refused for a log on NATS, which nothing is asked for it', async () => {
  const { eventLog } = readConfig({ EVENT_LOG: 'nats://127.0.0.1:1/EVENTS' });
  await expect(restore('copy.db', eventLog)).rejects.toThrow(
    'restore works on a SQLite file. Use import for NATS JetStream.',
  );
});

it('--rewrite is refused where there is no file, before anything is removed', async () => {
  const forgetting = forgetEvents({ names: ['1'] }, {} as EventLog, { rewrite: true });
  await expect(forgetting).rejects.toThrow('--rewrite works on a SQLite file.');
});

it('forget rewrites once it has removed, and removes nothing if a signal ends its search', async () => {
  jest.spyOn(console, 'error').mockReturnValue();
  jest.spyOn(process.stdout, 'write').mockImplementation((...all: unknown[]) => ((all.at(-1) as () => void)(), true));
  const did: string[] = [];
  let signal = (): void => undefined;
  const find = async function* () {
    yield await Promise.resolve({ ...newEvent(), position: 1 });
    signal();
  };
  const done = (what: string) => () => Promise.resolve([did.push(what)]);
  const log = { find, forget: done('forget'), upkeep: { rewrite: done('rewrite') } } as unknown as EventLog;
  const forgotten = () => forgetEvents({ search: {} }, log, { rewrite: true });
  await forgotten();
  expect(did).toEqual(['forget', 'rewrite']);
  signal = () => void process.rawListeners('SIGINT').at(-1)?.call(process);
  await expect(forgotten()).rejects.toThrow('Stopped before the end.');
  expect(did).toHaveLength(2);
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
