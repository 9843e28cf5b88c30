import { encodeEvent } from '../../../src/log/jetstream/message';
import { Stream } from '../../../src/log/jetstream/stream';
import { StreamWalk } from '../../../src/log/jetstream/walk';
import { newEvent } from '../../support/events';
import { natsInMemory } from '../../support/nats-in-memory';

/**
 * A stream whose leader changes again and again while it is read: of its two servers, which answer in turns, one has the first
 * messages only.
 */
function streamOfTwoLeaders(positions: readonly number[], lagging: number, asked: number): Stream {
  const { connection, streams } = natsInMemory();
  const messages = positions.map((seq) => {
    const data = encodeEvent({ attempt: 'a', event: newEvent({ id: String(seq) }) });
    return { seq, subject: '', time: new Date(), data };
  });
  const server = (last: number) => ({ config: {}, messages: messages.filter(({ seq }) => seq <= last), last });
  const servers = [server(lagging), server(60), server(60)];
  jest.spyOn(streams, 'get').mockImplementation(() => servers[++asked % 3]);
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
      const found = await sequencesOf(walk().events({ after, before: Infinity, isUpwards: true, most: 25 }));
      expect(found).toEqual(POSITIONS.filter((position) => position > after).slice(0, found.length));
    }
    expect(await sequencesOf(walk().events({ after: 0, before: Infinity, isUpwards: true, most: 25 }))).not.toEqual([]);
  });

  it('passes over none downwards', async () => {
    const found = await sequencesOf(walk().events({ after: 0, before: Infinity, isUpwards: false, most: 25 }));
    const newest = POSITIONS.indexOf(found[0] ?? 0);
    expect(found).toEqual(POSITIONS.slice(newest + 1 - found.length, newest + 1).reverse());
    expect(found.length).toBeGreaterThan(0);
  });
});
