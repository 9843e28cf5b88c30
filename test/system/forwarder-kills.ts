import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { EventLog } from '../../src/log/event-log';
import { newEvent } from '../support/events';
import { eventually } from '../support/eventually';
import { startTarget, type Received, type Target } from '../support/target';
import { startTool } from '../support/tool';

/** A log while its events are forwarded. */
export interface ForwardedLog {
  readonly log: EventLog;
  /** What EVENT_LOG names it. */
  readonly name: string;
  /** An empty folder. */
  readonly folder: string;
}

/** How many events are recorded before the target has them. */
const AHEAD = 50;

/** One request in this many is answered with 503. */
const EACH_BUSY = 71;

/** When the forwarder is killed, in turn: before its request is answered, or this many milliseconds after the answer. */
const MOMENTS = ['unanswered', 0, 1, 2, 4] as const;

/** Kills the forwarder several times while events come, and checks that the target has all in order. */
export function itForwardsThroughKills(kills: number, make: () => Promise<ForwardedLog>): void {
  it(
    `brings each event at least once, in order, through ${String(kills)} kills while events come`,
    async () => {
      const { log, name, folder } = await make();
      /** The events that the target has answered with 200, as they came. */
      const taken: number[] = [];
      /** Kills the forwarder if it is time; true: its request must not be answered. */
      let kill = (): boolean => false;
      const target = await startTarget((request, before) => {
        if (kill()) return 'close';
        if (before % EACH_BUSY === EACH_BUSY - 1) return 503;
        taken.push(sequenceOf(request));
        return 200;
      });
      const args = ['forward', target.url, '--follow', '--since', '0', '--position', join(folder, 'position')];
      const start = () => startTool(args, { EVENT_LOG: name }, folder);
      const recorder = startRecorder(log, target);

      try {
        for (let i = 0; i < kills; i++) {
          const tool = start();
          const wanted = target.received.length + 1 + ((i * 7) % 23);
          const moment = MOMENTS[i % MOMENTS.length];
          let killed: Promise<unknown> | undefined;
          kill = () => {
            if (target.received.length < wanted || killed !== undefined) return false;
            killed =
              typeof moment === 'number' ? setTimeout(moment).then(() => tool.end('SIGKILL')) : tool.end('SIGKILL');
            return typeof moment !== 'number';
          };
          await eventually('the forwarder is killed', () => killed !== undefined);
          expect(await killed).toBe('SIGKILL');
        }
        await recorder.stop();
        const tool = start();
        await eventually('the last event arrives', () => taken.at(-1) === recorder.recorded());
        expect(await tool.end('SIGTERM')).toBe(0);
        const [last] = await log.scan({ after: recorder.recorded() - 1, limit: 2 });
        expect(last?.position).toBe(recorder.recorded());
      } finally {
        await recorder.stop();
        await log.close();
        await target.close();
      }

      expect(new Set(taken).size).toBe(recorder.recorded());
      expect([0, 1]).toEqual(expect.arrayContaining(stepsOf(taken)));
      const arrived = target.received.map(sequenceOf);
      expect(arrived[0]).toBe(1);
      expect([0, 1]).toEqual(expect.arrayContaining(stepsOf(arrived)));
      // Each 503 brings an event back, and each kill at most one.
      const repeated = arrived.length - recorder.recorded();
      expect(repeated).toBeLessThanOrEqual(Math.ceil(arrived.length / EACH_BUSY) + kills);
    },
    60_000 + kills * 10_000,
  );
}

function sequenceOf({ body }: Received): number {
  return Number((JSON.parse(body.toString()) as { sequence: string }).sequence);
}

/** By how much each of the numbers is more than the one before it, each difference once. */
function stepsOf(numbers: readonly number[]): number[] {
  return [...new Set(numbers.slice(1).map((number, i) => number - (numbers[i] ?? 0)))];
}

/** Records events all the time, but stays only a limited number ahead of the target. Returns how many there are, and what stops it. */
function startRecorder(log: EventLog, target: Target) {
  let isOver = false;
  let recorded = 0;
  const recording = (async () => {
    while (!isOver) {
      if (recorded > target.received.length + AHEAD) {
        await setTimeout(1);
        continue;
      }
      await log.append(newEvent());
      recorded++;
    }
  })();
  return {
    recorded: () => recorded,
    stop() {
      isOver = true;
      return recording;
    },
  };
}
