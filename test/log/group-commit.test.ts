import { setTimeout } from 'node:timers/promises';
import { GroupCommit } from '../../src/log/group-commit';
import { within } from '../../src/util/promises';

/** Adds requests with these sizes at the same moment; resolves to the sizes of each group that was committed. */
async function groupsOf(sizes: readonly number[], maxSize: number): Promise<number[][]> {
  const groups: number[][] = [];
  const group = new GroupCommit<number, number>(maxSize, false, (requests) => {
    // Groups without a request would follow each other for ever, and the test would hang in place of failing.
    if (requests.length === 0) return new Promise(() => undefined);
    groups.push([...requests]);
    return Promise.resolve([...requests]);
  });
  const results = Promise.all(sizes.map((size) => group.add([size], size)));
  expect(await within(results, 5000, () => new Error(`only ${JSON.stringify(groups)} were committed`))).toEqual(
    sizes.map((size) => [size]),
  );
  return groups;
}

describe('a group commit', () => {
  it.each([
    { what: 'fill a group to its last byte', sizes: [4, 6], groups: [[4, 6]] },
    { what: 'have a byte more than a group', sizes: [4, 7], groups: [[4], [7]] },
    { what: 'have several that are larger', sizes: [11, 12, 1, 2, 13, 5], groups: [[11], [12], [1, 2], [13], [5]] },
  ])('takes requests that $what', async ({ sizes, groups }) => {
    expect(await groupsOf(sizes, 10)).toEqual(groups);
  });

  it('takes those that come during a commit into the next one', async () => {
    const groups: number[][] = [];
    const later: Promise<number[]>[] = [];
    const group = new GroupCommit<number, number>(10, false, (requests) => {
      if (groups.push([...requests]) === 1) later.push(group.add([2, 3], 1), group.add([4], 1));
      return Promise.resolve([...requests]);
    });
    expect(await group.add([1], 1)).toEqual([1]);
    expect(await Promise.all(later)).toEqual([[2, 3], [4]]);
    expect(groups).toEqual([[1], [2, 3, 4]]);
  });

  it('is told how long the first of its requests has waited', async () => {
    const waits: number[] = [];
    const later: Promise<number[]>[] = [];
    const group = new GroupCommit<number, number>(2, false, async (requests, waited) => {
      waits.push(waited);
      await setTimeout(20);
      if (waits.length === 1) later.push(group.add([3], 1));
      return [...requests];
    });
    await Promise.all([group.add([1], 2), group.add([2], 1)]);
    expect(await Promise.all(later)).toEqual([[3]]);
    expect(waits).toHaveLength(2);
    expect(waits[1]).toBeGreaterThan(15);
  });

  it('fails all requests of a commit that fails, and none of the next', async () => {
    let commits = 0;
    const group = new GroupCommit<number, number>(2, false, (requests) =>
      ++commits === 1 ? Promise.reject(new Error('the disk is full')) : Promise.resolve([...requests]),
    );
    const outcomes = await Promise.allSettled([1, 2, 3].map((request) => group.add([request], 1)));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  });
});
