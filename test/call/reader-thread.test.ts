import { inspect } from 'node:util';
import { ReaderThread } from '../../src/call/reader-thread';

describe('the reader thread', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }));
  afterEach(() => jest.useRealTimers());

  it('reads a message that comes while it ends, having been idle', async () => {
    const thread = new ReaderThread(1024, []);
    const read = () =>
      thread.read(
        { module: 'node:util', name: 'inspect', read: (message) => inspect(message) },
        { body: Buffer.from('x') },
      );
    const first = await read();
    jest.runOnlyPendingTimers();
    expect(await read()).toBe(first);
    jest.runOnlyPendingTimers();
  });
});
