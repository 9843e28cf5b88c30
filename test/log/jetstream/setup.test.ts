import { noteOwnSource } from '../../../src/log/jetstream/setup';
import { fakeStreams } from '../../support/fake-streams';

const SOURCES = Array.from({ length: 8 }, (_, i) => `/path-${String(i)}`);

describe('the own sources of instances', () => {
  it('are all noted where they are noted at once, and leave no message', async () => {
    const { keys, begin } = fakeStreams();
    const noted = await Promise.all([...SOURCES, ...SOURCES].map((source) => noteOwnSource(begin(), source)));
    for (const [i, sources] of noted.entries()) expect(sources).toContain(SOURCES[i % SOURCES.length]);
    expect((await noteOwnSource(begin(), '/path-0')).sort()).toEqual(SOURCES);
    expect(keys.messages).toEqual([]);
  });

  it('are noted where an instance ended while it noted its own', async () => {
    const { keys, begin } = fakeStreams();
    jest.spyOn(keys, 'describe').mockRejectedValueOnce(new Error('killed'));
    jest.spyOn(keys, 'remove').mockRejectedValueOnce(new Error('killed'));
    await expect(noteOwnSource(begin(), '/killed')).rejects.toThrow('killed');
    expect(keys.messages).toHaveLength(1);
    expect(await noteOwnSource(begin(), '/next')).toEqual(['/next']);
    expect(keys.messages).toEqual([]);
  });
});
