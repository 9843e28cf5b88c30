import { encodeEvent } from '../../../src/log/jetstream/message';
import type { Stream } from '../../../src/log/jetstream/stream';
import { TypeSearch } from '../../../src/log/jetstream/walk';
import { newEvent } from '../../support/events';

/** A stream of events of these types, which notes the positions that are asked for. */
function streamOf(types: string[]) {
  const asked: number[] = [];
  const message = (seq: number) => {
    const attributes = JSON.stringify({ specversion: '1.0', id: String(seq), source: '/', type: types[seq - 1] });
    return {
      seq,

      time: new Date(),
      data: encodeEvent({ attempt: 'a', event: newEvent({ attributes }) }),
    };
  };
  const stream: Partial<Stream> = {
    state: () =>
      Promise.resolve({
        first_seq: 1,
        first_ts: '',
        last_seq: types.length,
        last_ts: '',
        messages: types.length,
        bytes: 500 * types.length,
        consumer_count: 0,
        num_deleted: 0,
        deleted: [],
        lost: { msgs: [], bytes: 0 },
      }),
    at(seq) {
      asked.push(seq);
      return Promise.resolve(message(seq));
    },
  };
  return { stream: stream as Stream, asked };
}

async function found(search: TypeSearch, stream: Stream, after: number, type = 'a'): Promise<number[]> {
  const positions: number[] = [];
  for await (const { position } of search.find(stream, type, {
    after,
    before: Infinity,
    first: 'oldest',
    most: Infinity,
  }))
    positions.push(position);
  return positions;
}

const others = (count: number) => Array.from({ length: count }, () => 'b');

it('does not look again where it has found no event of a type, and finds what comes after it', async () => {
  const types = others(300);
  const { stream, asked } = streamOf(types);
  const search = new TypeSearch();
  expect(await found(search, stream, 5)).toEqual([]);
  types.push('b', 'a', 'b', 'a');
  asked.length = 0;
  expect(await found(search, stream, 5)).toEqual([302, 304]);
  expect(asked).toEqual([301, 302, 303, 304]);
  expect(await found(search, stream, 0, 'b')).toHaveLength(302);
});

it('looks at a stream anew that was replaced by a shorter one', async () => {
  const search = new TypeSearch();
  expect(await found(search, streamOf(others(300)).stream, 0)).toEqual([]);
  expect(await found(search, streamOf(['b', 'a']).stream, 0)).toEqual([2]);
});

it('gives up when its time is over, and goes on where it was', async () => {
  const { stream } = streamOf([...others(1000), 'a']);
  const search = new TypeSearch();
  const now = jest.spyOn(performance, 'now');
  let time = 0;
  now.mockImplementation(() => (time += 10));
  try {
    await expect(found(search, stream, 0)).rejects.toThrow('No event of this type was found yet');
    let positions: number[] | undefined;
    for (let tries = 0; positions === undefined && tries < 20; tries++)
      positions = await found(search, stream, 0).catch(() => undefined);
    expect(positions).toEqual([1001]);
  } finally {
    now.mockRestore();
  }
});
