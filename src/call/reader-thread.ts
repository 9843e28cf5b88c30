// Runs in both threads; the last statement is the thread's.
import { parentPort, Worker, workerData } from 'node:worker_threads';
import type { MediaType } from '../http/content/media-type';
import { Semaphore } from '../util/promises';
import { Remote } from '../util/remote';

/** For how long the thread waits for another message before it ends, in milliseconds. */
const IDLE = 30_000;

/** Memory of the thread's heap: MiB for its code and its newest objects, and for one message a multiple of the largest body. */
const HEAP_FOR_CODE = 64;
const YOUNG_GENERATION = 6;
const HEAP_GROWTH = 32;

/** A synchronous function that reads messages, with its module and name. What it takes and returns can be cloned (HTML, section 2.7). */
export interface Reader<Message extends { readonly body: Buffer }, Result> {
  readonly module: string;
  readonly name: string;
  /** @param mediaType - that of the message; by default it is read from the header. */
  readonly read: (message: Message, mediaType?: MediaType) => Result;
}

/** Tells the thread what it is for. */
const READER = 'webhook-reader';

/** A message for the thread, and the function that reads it. */
interface Question extends Pick<Reader<never, unknown>, 'module' | 'name'> {
  readonly message: { readonly body: Uint8Array };
}

/** What a function returned, or the members of the error that it threw, in a form that can be cloned. */
type Outcome = { readonly result: unknown } | { readonly thrown: Error };

type ReaderFunctions = Readonly<Record<'read', (question: Question) => Promise<Outcome>>>;

/** Messages of up to this many bytes have a thread of their own: reading one takes up to 50 ms, a larger one up to half a second. */
const MEDIUM_MESSAGE = 256 * 1024;

/** Reads large messages in two threads, one at a time in each: meanwhile other calls are answered. */
export class ReaderThreads {
  readonly #forMedium = new ReaderThread(MEDIUM_MESSAGE);
  readonly #forLarger: ReaderThread;
  readonly #errors: ReadonlyMap<string, object>;

  /**
   * @param maxBytes - of a message.
   * @param errors - the classes of errors that come back as what they are. Any other error is a failure of the service.
   */
  constructor(maxBytes: number, errors: readonly (abstract new (...given: never[]) => Error)[]) {
    this.#forLarger = new ReaderThread(maxBytes);
    this.#errors = new Map(errors.map((error) => [error.name, error.prototype as object]));
  }

  /** Reads a message in its thread. Throws what the function throws, of its class again. */
  async read<Message extends { readonly body: Buffer }, Result>(
    { module, name }: Reader<Message, Result>,
    message: Message,
  ): Promise<Result> {
    const thread = message.body.length > MEDIUM_MESSAGE ? this.#forLarger : this.#forMedium;
    const outcome = await thread.ask({ module, name, message });
    if ('result' in outcome) return outcome.result as Result;
    const { thrown } = outcome;
    const error = Object.assign(new Error(thrown.message), thrown);
    throw Object.setPrototypeOf(error, this.#errors.get(thrown.name) ?? Error.prototype) as Error;
  }
}

/** A thread that reads one message at a time. It starts with the first of them. */
class ReaderThread {
  readonly #turn = new Semaphore(1);
  #thread: { readonly worker: Worker; readonly remote: Remote<ReaderFunctions> } | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(private readonly maxBytes: number) {}

  ask(question: Question): Promise<Outcome> {
    return this.#turn.run(async () => {
      clearTimeout(this.#idle);
      if (this.#thread === undefined || this.#thread.remote.hasEnded) this.#thread = this.#start();
      const { worker, remote } = this.#thread;
      worker.ref();
      try {
        return await remote.ask('read', question);
      } finally {
        worker.unref();
        this.#idle = setTimeout(() => {
          // Forgotten first: while it ends, the next message must start a new thread.
          this.#thread = undefined;
          void worker.terminate();
        }, IDLE).unref();
      }
    });
  }

  #start() {
    const maxOldGenerationSizeMb = HEAP_FOR_CODE + Math.ceil((HEAP_GROWTH * this.maxBytes) / 1024 / 1024);
    const resourceLimits = { maxOldGenerationSizeMb, maxYoungGenerationSizeMb: YOUNG_GENERATION };
    const worker = new Worker(__filename, { workerData: READER, resourceLimits });
    return { worker, remote: Remote.ofThread<ReaderFunctions>(worker) };
  }
}

if (workerData === READER && parentPort !== null)
  Remote.ofThread(parentPort).serve<ReaderFunctions>({
    async read({ module, name, message }) {
      const { buffer, byteOffset, byteLength } = message.body;
      const body = Buffer.from(buffer, byteOffset, byteLength);
      const { [name]: read } = (await import(module)) as Record<string, (message: object) => unknown>;
      try {
        return { result: read?.({ ...message, body }) };
      } catch (error) {
        const thrown = error as Error;
        return { thrown: { ...thrown, name: thrown.name, message: thrown.message, stack: thrown.stack } as Error };
      }
    },
  });
