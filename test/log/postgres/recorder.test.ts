import { EventEmitter } from 'node:events';
import type { PostgresConnection } from '../../../src/log/postgres/connection';
import { recordEvents } from '../../../src/log/postgres/recorder';
import { newEvent } from '../../support/events';

let noticeCode = '00000';

/** Records events on a server whose INSERTs say which are new, and which finds rows for the others. */
async function recorded(events: readonly { id: string }[], isRepeated: boolean, places: number[][], found: object[][]) {
  const client = Object.assign(new EventEmitter(), {
    query() {
      client.emit('notice', { code: noticeCode, message: 'it has only committed here' });
      return Promise.resolve({ rows: [{ places: places.shift(), fsync: 'on', commit: 'local' }] });
    },
  });
  const query = jest.fn<Promise<object[] | undefined>, unknown[]>(() => Promise.resolve(found.shift()));
  const asked = { deadline: jest.fn(() => 7), requireDurable: jest.fn<undefined, unknown[]>(), query };
  const run = jest.fn((action: (...given: unknown[]) => unknown) => Promise.resolve(action(client, isRepeated)));
  const connection = { ...asked, run } as unknown as PostgresConnection;
  const outcomes = await recordEvents(connection, events.map(newEvent), 300);
  return { outcomes, client, run, ...asked };
}

it('an event is recorded if the one that it repeats is forgotten meanwhile, and its caller does not wait anew', async () => {
  const { outcomes, client, run, query, ...asked } = await recorded([{ id: 'a' }], false, [[], [1]], [[]]);
  expect(outcomes).toEqual([{ id: 'a', recorded: true }]);
  expect(asked.deadline.mock.calls).toEqual([[300]]);
  expect(run.mock.calls.map((given: readonly unknown[]) => given[1])).toEqual([7, 7]);
  expect(query.mock.calls.map((given) => given[2])).toEqual([7]);
  expect(asked.requireDurable).toHaveBeenCalledWith('on', 'local');
  expect(client.listenerCount('notice')).toBe(0);
});

it.each([
  [true, [true, false, true]],
  [false, [false, false, false]],
])('of what a log holds, events are new that an attempt recorded, if there was one: %p', async (isRepeated, areNew) => {
  const row = (place: number, position: number) => ({ place, key: null, id: 'a', position, isOwn: true });
  const events = [1, 2, 3].map(() => ({ id: 'a' }));
  const { outcomes } = await recorded(events, isRepeated, [[]], [[row(1, 7), row(2, 7), row(3, 8)]]);
  expect(outcomes.map((outcome) => outcome.recorded)).toEqual(areNew);
});

it('an event is not recorded if the server says that its standby was not waited for', async () => {
  noticeCode = '01000';
  await expect(recorded([{ id: 'a' }], false, [[1]], [])).rejects.toThrow('it has only committed here');
});
