import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ReaderThreads } from '../../src/call/reader-thread';
import { useTemporaryFolder } from '../support/temporary-folder';

describe('the threads that read large messages', () => {
  const folder = useTemporaryFolder();
  /** Waits for a flag if it is given one; ends its thread without a body. */
  const reader = () => ({ module: join(folder.path, 'reader.cjs'), name: 'read', read: () => 'read' });
  const open = new Int32Array(new SharedArrayBuffer(4));
  const message = (bytes: number, flag?: Int32Array) => ({ body: Buffer.alloc(bytes), flag });
  beforeEach(async () => {
    const source =
      'exports.read = ({ body, flag }) => (flag && Atomics.wait(flag, 0, 0), body.length > 0 ? "read" : process.exit());';
    await writeFile(reader().module, source);
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  });
  afterEach(() => {
    jest.runOnlyPendingTimers();
    jest.useRealTimers();
  });

  it('read a message of up to 256 KiB while a larger one is read', async () => {
    const threads = new ReaderThreads(1 << 20, []);
    const larger = threads.read(reader(), message(256 * 1024 + 1, open));
    expect(await threads.read(reader(), message(256 * 1024))).toBe('read');
    Atomics.store(open, 0, 1);
    Atomics.notify(open, 0);
    expect(await larger).toBe('read');
  });

  it('end only once they have been idle, and read what comes while they end', async () => {
    const threads = new ReaderThreads(1 << 20, []);
    await threads.read(reader(), message(1));
    const next = threads.read(reader(), message(1));
    jest.runOnlyPendingTimers();
    expect(await next).toBe('read');
    jest.runOnlyPendingTimers();
    expect(await threads.read(reader(), message(1))).toBe('read');
  });

  it('are started anew if one dies of a message', async () => {
    const threads = new ReaderThreads(1 << 20, []);
    await expect(threads.read(reader(), message(0))).rejects.toThrow('thread');
    expect(await threads.read(reader(), message(1))).toBe('read');
  });
});
