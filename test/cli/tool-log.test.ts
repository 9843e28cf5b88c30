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

it('events that are named are read in log order, and those that are not there, gone or ambiguous are said', async () => {
  const log = openMemoryLog();
  for (const id of ['1', 'b', 'c', '2']) await log.append(newEvent({ id }));
  const [positions, missing] = [[] as number[], [] as string[]];
  const names = ['c', '1', 'x\n', '2', '00000000000000000002', '3', '00000000000000000001'];
  for await (const { position } of selectedEvents(log, { names }, new AbortController().signal, (problem) =>
    missing.push(problem),
  )) {
    positions.push(position);
    await log.forget([3]);
  }
  expect(positions).toEqual([1, 2]);
  expect(missing).toEqual([
    'There is no event x\\n.',
    '2 names several events. Give the whole sequence of each that is meant: 00000000000000000002, 00000000000000000004.',
    'Event 3 is no longer in the log.',
  ]);
  await log.close();
});
