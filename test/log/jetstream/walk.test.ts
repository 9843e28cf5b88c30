import type { JetStreamConnection } from '../../../src/log/jetstream/connection';
import { encodeEvent } from '../../../src/log/jetstream/message';
import { Stream } from '../../../src/log/jetstream/stream';
import { StreamWalk } from '../../../src/log/jetstream/walk';
import { newEvent } from '../../support/events';

/**
 * A stream whose leader changes again and again while it is read: of its two servers, which answer in turns, one has the first
 * messages only.
 */
function streamOfTwoLeaders(positions: readonly number[], lagging: number, asked: number): Stream {
  const held = () => {
    const lags = ++asked % 3 === 0;
    return positions.filter((position) => !lags || position <= lagging);
  };
  const message = (seq: number | undefined) =>
    seq === undefined
      ? null
      : { seq, time: new Date(), data: encodeEvent({ attempt: 'a', event: newEvent({ id: String(seq) }) }) };
  const streams = {
    getMessage(_name: string, query: { readonly seq: number; readonly next_by_subj?: string }) {
      const known = held();
      const found = known.find((seq) => (query.next_by_subj === undefined ? seq === query.seq : seq >= query.seq));
      return Promise.resolve(message(found));
    },
    info() {
      const known = held();
      return Promise.resolve({
        state: { first_seq: 1, last_seq: known.at(-1) ?? 0, messages: known.length, bytes: 5000 },
      });
    },
  };
  const retry = async <T>(deadline: number, request: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await request();
      } catch (error) {
        if (performance.now() > deadline) throw error;
      }
    }
  };
  const connection = { retry, manager: { streams } } as unknown as JetStreamConnection;
  return new Stream(connection, 'E', performance.now() + 5000);
}

/** With holes, as forgotten events leave them. */
const POSITIONS = Array.from({ length: 60 }, (_, i) => i + 1).filter((i) => i % 7 !== 0 && (i < 30 || i > 45));

async function sequencesOf(events: ReturnType<StreamWalk['events']>): Promise<number[]> {
  const sequences: number[] = [];
  for await (const { position } of events) sequences.push(position);
  return sequences;
}

describe.each([0, 1, 2])('a walk over a stream whose leader changes meanwhile (%i requests earlier)', (asked) => {
  const walk = () => new StreamWalk(streamOfTwoLeaders(POSITIONS, 20, asked), 16);

  it('passes over no position upwards, so that a reader who goes on after the last one misses none', async () => {
    for (let after = 0; after < 60; after++) {
      const found = await sequencesOf(walk().events({ after, before: Infinity, first: 'oldest', most: 25 }));
      expect(found).toEqual(POSITIONS.filter((position) => position > after).slice(0, found.length));
    }
    expect(await sequencesOf(walk().events({ after: 0, before: Infinity, first: 'oldest', most: 25 }))).not.toEqual([]);
  });

  it('passes over none downwards', async () => {
    const found = await sequencesOf(walk().events({ after: 0, before: Infinity, first: 'newest', most: 25 }));
    const newest = POSITIONS.indexOf(found[0] ?? 0);
    expect(found).toEqual(POSITIONS.slice(newest + 1 - found.length, newest + 1).reverse());
    expect(found.length).toBeGreaterThan(0);
  });
});
