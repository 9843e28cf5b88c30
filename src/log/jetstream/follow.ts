import { setTimeout as delay } from 'node:timers/promises';
import type { ConsumerMessages, ConsumerNotification } from '@nats-io/jetstream';
import type { BeginCall } from './stream';

/** Shortest pause between two questions for the newest position while events keep coming, in milliseconds. */
const LOOK_PAUSE = 10;

/** Pause before following begins again after it was interrupted, in milliseconds. */
const RESTART_PAUSE = 100;

/** How long one request for messages stands, and how often the server says that there are none, in milliseconds. */
const PULL = { expires: 2000, idle_heartbeat: 1000 };

/** After any other notification it is not certain that the consumer goes on where it was. */
const HARMLESS: ReadonlySet<ConsumerNotification['type']> = new Set(['heartbeat', 'next', 'debug', 'discard']);

/**
 * Tells newest positions as `LogEngine.follow` does. An ordered consumer, without the events' contents, shows that there are
 * new ones. The position is then asked of the stream's leader, since readers ask the leader too, and the server on which the
 * consumer runs may be ahead of it. When the connection or the consumer is lost, following begins anew.
 */
export function followEvents(begin: BeginCall, tell: (newest: number) => void): () => Promise<void> {
  const end = new AbortController();
  const ended = new Follower(begin, tell, end.signal).run();
  return () => {
    end.abort();
    return ended;
  };
}

class Follower {
  readonly #begin: BeginCall;
  readonly #tell: (newest: number) => void;
  readonly #end: AbortSignal;

  constructor(begin: BeginCall, tell: (newest: number) => void, end: AbortSignal) {
    this.#begin = begin;
    this.#tell = tell;
    this.#end = end;
  }

  /** Resolves once it has been ended and nothing is in progress. */
  async run(): Promise<void> {
    while (!this.#end.aborted) {
      try {
        await this.#follow();
      } catch {
        // Calls that read or record say why; the next try may go well.
      }
      await this.#pause(RESTART_PAUSE);
    }
  }

  /** Tells the newest position, and those after it for as long as the consumer works. */
  async #follow(): Promise<void> {
    const newest = await this.#look();
    const consumer = await this.#begin().events.consumer(newest);
    try {
      const messages = await consumer.consume({ ...PULL, abort_on_missing_resource: true });
      const stop = (): void => {
        messages.stop();
      };
      this.#end.addEventListener('abort', stop);
      if (this.#end.aborted) stop();
      void stopAtTrouble(messages);
      await this.#tellShown(messages, newest).finally(() => {
        this.#end.removeEventListener('abort', stop);
      });
    } finally {
      consumer.delete().catch(() => undefined);
    }
  }

  /** Looks, after each message that is new, until the leader names it, for as long as a call may take. */
  async #tellShown(messages: ConsumerMessages, newest: number): Promise<void> {
    for await (const { seq } of messages) {
      const { deadline } = this.#begin();
      while (newest < seq && performance.now() < deadline && !this.#end.aborted) {
        newest = await this.#look();
        await this.#pause(LOOK_PAUSE);
      }
    }
  }

  async #look(): Promise<number> {
    const { last } = await this.#begin().events.state();
    this.#tell(last);
    return last;
  }

  async #pause(milliseconds: number): Promise<void> {
    await delay(milliseconds, undefined, { signal: this.#end }).catch(() => undefined);
  }
}

async function stopAtTrouble(messages: ConsumerMessages): Promise<void> {
  for await (const { type } of messages.status()) if (!HARMLESS.has(type)) messages.stop();
}
