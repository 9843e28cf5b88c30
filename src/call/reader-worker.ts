import { parentPort } from 'node:worker_threads';
import { outcomeOf, type Question } from './reader-thread';

/** The thread of `ReaderThread`. */
parentPort?.on('message', ({ module, name, message }: Question) => {
  const { buffer, byteOffset, byteLength } = message.body;
  const body = Buffer.from(buffer, byteOffset, byteLength);
  const answer = async () => {
    const { [name]: read } = (await import(module)) as Record<string, (message: object) => unknown>;
    parentPort?.postMessage(outcomeOf(() => read?.({ ...message, body })));
  };
  void answer();
});
