import { positionBefore, selectedEvents } from '../../src/cli/tool-log';
import { openMemoryLog } from '../../src/log/memory/event-log';
import { newEvent } from '../support/events';

it('a time becomes the position before the first event since then, or the end of the log', async () => {
  const log = openMemoryLog();
  expect(await positionBefore(log)).toBe(0);
  for (const recordedAt of [1000, 3000, 2000]) await log.append(newEvent({ recordedAt }));
  const positions = [0, 2500, 9000].map((since) => positionBefore(log, { after: 0, since }));
  expect(await Promise.all(positions)).toEqual([0, 1, 3]);
  expect([await positionBefore(log), await positionBefore(log, { after: 7 })]).toEqual([3, 7]);
  await log.forget([1, 2, 3]);
  expect(await positionBefore(log, { after: 0 })).toBe(3);
  await log.close();
});

it('events that are named are read in log order', async () => {
  const log = openMemoryLog();
  for (let i = 1; i <= 10; i++) await log.append(newEvent());
  const positions: number[] = [];
  const selected = selectedEvents(log, { names: ['10', '9', '10'] }, new AbortController().signal, jest.fn());
  for await (const { position } of selected) positions.push(position);
  expect(positions).toEqual([9, 10]);
  await log.close();
});
