import { get, type IncomingMessage } from 'node:http';
import { piecesOf } from '../../../src/pages/events/event-feed';
import { eventually } from '../../support/eventually';
import { newEvent } from '../../support/events';
import { send } from '../../support/http';
import { expectNothingHeld, noBytesHeld } from '../../support/nothing-held';
import { startService, type TestService } from '../../support/service';
import { untilWaiting } from '../../support/waiting';

it('a character is in one piece of a line, wherever it stands', () => {
  for (const start of [16 * 1024 - 2, 16 * 1024 - 1, 16 * 1024]) {
    const line = `${'x'.repeat(start)}😀${'y'.repeat(start)}\n`;
    expect(Buffer.concat(piecesOf(line, () => undefined)).toString()).toBe(line);
  }
});

describe('those who follow the events', () => {
  let service: TestService;
  const ends: (() => void)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) end();
    await expectNothingHeld(service);
  });

  /** Follows from after a position; where its connection ends, from its last event. */
  const follow = (after = 0) => {
    const positions: number[] = [];
    let answer: IncomingMessage | undefined;
    let isOver = false;
    const ask = () => {
      let line = '';
      const last = String(positions.at(-1) ?? after);
      get(`${service.url}?events=export&wait=60&after=${last}`, { agent: false }, (response) => {
        answer = response.setEncoding('latin1');
        response.on('data', (text: string) => {
          const lines = (line + text).split('\n');
          // The beginning of a line has its sequence; lines are up to a megabyte.
          line = lines.pop()?.slice(0, 1000) ?? '';
          for (const whole of lines.filter(Boolean)) positions.push(Number(/"sequence":"(\d+)"/.exec(whole)?.[1]));
        });
        response.on('error', () => undefined).on('close', () => isOver || ask());
      }).on('error', ask);
    };
    ask();
    ends.push(() => {
      isOver = true;
      answer?.destroy();
    });
    return { positions, pause: () => answer?.pause(), resume: () => answer?.resume() };
  };
  const followers = async (...after: readonly number[]) => {
    const all = after.map(follow);
    await untilWaiting(service.url, after.length);
    return all;
  };
  const fromStart = (count: number) => followers(...new Array<number>(count).fill(0));
  const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const large = (bytes: number) => newEvent({ data: `"data":"${'x'.repeat(bytes)}"` });

  it('are given bytes that were read once for all of them, from wherever they follow', async () => {
    service = await startService();
    await service.log.append(newEvent(), newEvent());
    const starts = [...new Array<number>(8).fill(0), ...new Array<number>(8).fill(2), 3];
    const all = await followers(...starts);
    await eventually('they have the first', () => all.slice(0, 8).every(({ positions }) => positions.length === 2));
    const read = jest.spyOn(service.log, 'read');
    for (let last = 4; last <= 8; last += 2) {
      await service.log.append(newEvent(), newEvent());
      await eventually('all have the new ones', () => all.every(({ positions }) => positions.at(-1) === last));
    }
    // One of them began between two events that were read together.
    expect(read.mock.calls.length).toBeLessThan(10);
    for (const [i, { positions }] of all.entries()) expect(positions).toEqual(upTo(8, (starts[i] ?? 0) + 1));
  });

  it('all get a large event, which takes no room of each, also while many are slow', async () => {
    service = await startService({ MAX_REQUEST_BYTES: '1048576', MAX_BODY_MEMORY: '1048576' });
    const all = await fromStart(8);
    for (const { pause } of all.slice(3)) pause();
    await service.log.append(large(900_000), newEvent());
    await eventually('those who read have it', () => all.slice(0, 3).every(({ positions }) => positions.length === 2));
    for (const { resume } of all) resume();
    await eventually('all have it', () => all.every(({ positions }) => positions.length === 2));
    expect((await send(`${service.url}?events=refusals`)).body).not.toContain('MAX_BODY_MEMORY');
  });

  it('take no room while they wait, once they have what was in the log', async () => {
    service = await startService({ MAX_REQUEST_BYTES: '1048576', MAX_BODY_MEMORY: '1048576' });
    await service.log.append(large(900_000));
    const pauses = jest.spyOn(globalThis, 'setTimeout');
    const [one] = await fromStart(1);
    await eventually('it has the event', () => one?.positions.length === 1);
    await noBytesHeld();
    // While nothing comes, they are given an empty line as often.
    expect(pauses).toHaveBeenCalledWith(expect.any(Function), 2000);
  });

  it('go on by themselves where they are far behind the others', async () => {
    service = await startService();
    const [slow, other] = await fromStart(2);
    slow?.pause();
    for (let i = 0; i < 24; i++) await service.log.append(large(1_000_000), newEvent());
    await eventually('the other has them', () => other?.positions.length === 48);
    slow?.resume();
    await eventually('it has all', () => slow?.positions.length === 48);
    expect([slow?.positions, other?.positions]).toEqual([upTo(48), upTo(48)]);
    expect((await send(`${service.url}?events=refusals`)).body).toContain('too far behind');
  });

  it('see that the log cannot be read, and go on afterwards', async () => {
    service = await startService();
    const [one] = await fromStart(1);
    const read = jest.spyOn(service.log, 'read').mockRejectedValueOnce(new Error('the disk is gone'));
    await service.log.append(newEvent());
    await eventually('it has the event', () => one?.positions.length === 1);
    expect(read).toHaveBeenCalledTimes(2);
    expect((await send(`${service.url}?events=refusals`)).body).toContain('the disk is gone');
  });

  it('are given no event that was forgotten before they came, although others have it', async () => {
    service = await startService();
    const [first] = await fromStart(1);
    await service.log.append(newEvent());
    await eventually('the first has it', () => first?.positions.length === 1);
    await service.log.forget([1]);
    const second = follow();
    await untilWaiting(service.url, 2);
    await service.log.append(newEvent());
    await eventually('the second has what is left', () => second.positions.at(-1) === 2);
    expect(second.positions).toEqual([2]);
  });

  it('have each event once, in order, past those that were forgotten before they were read', async () => {
    service = await startService();
    const all = await fromStart(3);
    const left: number[] = [];
    for (let last = 20; last <= 80; last += 20) {
      await service.log.append(...Array.from({ length: 20 }, () => large(4000)));
      await service.log.forget([last - 2, last - 1]);
      left.push(...upTo(last, last - 19).filter((position) => position < last - 2 || position === last));
      await eventually('all have these', () => all.every(({ positions }) => positions.at(-1) === last));
    }
    for (const { positions } of all) expect(positions).toEqual(left);
  });
});
