import { setTimeout as delay } from 'node:timers/promises';
import type { ConsumerMessages, ConsumerNotification } from '@nats-io/jetstream';
import type { JetStreamConnection } from './connection';
import type { StreamNames } from './schema';
import type { JetStreamStore } from './store';

/** Shortest pause between two questions for the newest position while events keep coming, in milliseconds. */
const LOOK_PAUSE = 10;

/** How often the leader is asked although no consumer shows anything, in milliseconds. */
const LOOK_INTERVAL = 500;

/** Pause before the watch begins again after it was interrupted, in milliseconds. */
const RESTART_PAUSE = 100;

/** How long one request for messages stands, and how often the server says that there are none, in milliseconds. */
const PULL = { expires: 2000, idle_heartbeat: 1000 };

/** How long the server keeps a consumer that nobody asks for messages, in milliseconds. */
const CONSUMER_AGE = 30_000;

/** After any other notification it is not certain that the consumer goes on where it was. */
const HARMLESS: ReadonlySet<ConsumerNotification['type']> = new Set(['heartbeat', 'next', 'debug', 'discard']);

/**
 * Tells a listener of new events in the stream. An ordered consumer, without the events' contents, shows that there are some.
 * What is told is the position that the leader of the stream then names, since readers ask the leader too, and the server on
 * which the consumer runs may be ahead of it. Whenever the connection or the consumer is lost the watch begins anew. Twice a
 * second the leader is asked in any case: in a cluster of three, a consumer was once silent for two seconds.
 */
export class JetStreamWatch {
  readonly #connection: JetStreamConnection;
  readonly #names: StreamNames;
  readonly #store: JetStreamStore;
  readonly #listener: (newest: bigint) => void;
  readonly #end = new AbortController();
  /** Resolves when nothing is under way any more. */
  readonly ended: Promise<void>;
  #told: number | undefined;
  /** The last position that the consumer has shown. */
  #seen = 0;
  #catchingUp = false;

  constructor(
    connection: JetStreamConnection,
    names: StreamNames,
    store: JetStreamStore,
    listener: (newest: bigint) => void,
  ) {
    this.#connection = connection;
    this.#names = names;
    this.#store = store;
    this.#listener = listener;
    this.ended = this.#run();
  }

  end(): void {
    this.#end.abort();
  }

  async #run(): Promise<void> {
    const timer = setInterval(() => void this.#catchUp(), LOOK_INTERVAL);
    while (!this.#end.signal.aborted) {
      try {
        await this.#follow();
      } catch {
        // Whoever reads or records is told why; the next try may go well.
      }
      await this.#pause(RESTART_PAUSE);
    }
    clearInterval(timer);
  }

  /** Tells the newest position, and those after it for as long as the consumer works. */
  async #follow(): Promise<void> {
    this.#seen = 0;
    const last = await this.#look();
    const { client } = this.#connection;
    const consumer = await this.#connection.retry(this.#connection.deadline(), () =>
      client.consumers.get(this.#names.events, {
        headers_only: true,
        opt_start_seq: last + 1,
        inactive_threshold: CONSUMER_AGE,
      }),
    );
    try {
      await this.#consume(await consumer.consume({ ...PULL, abort_on_missing_resource: true }));
    } finally {
      consumer.delete().catch(() => undefined);
    }
  }

  async #consume(messages: ConsumerMessages): Promise<void> {
    const stop = (): void => {
      messages.stop();
    };
    this.#end.signal.addEventListener('abort', stop);
    if (this.#end.signal.aborted) stop();
    void stopAtTrouble(messages);
    try {
      for await (const { seq } of messages) {
        this.#seen = seq;
        if (seq > (this.#told ?? 0)) void this.#catchUp();
      }
    } finally {
      this.#end.signal.removeEventListener('abort', stop);
    }
  }

  /** Looks once, and again until the leader names what the consumer has shown. Never rejects. */
  async #catchUp(): Promise<void> {
    if (this.#catchingUp) return;
    this.#catchingUp = true;
    try {
      do {
        await this.#look();
        await this.#pause(LOOK_PAUSE);
      } while ((this.#told ?? 0) < this.#seen && !this.#end.signal.aborted);
    } catch {
      // As above.
    } finally {
      this.#catchingUp = false;
    }
  }

  /** Tells the newest position that the leader names, unless it was told before. */
  async #look(): Promise<number> {
    const { last } = await this.#store.state(this.#names.events, this.#connection.deadline());
    if (last !== this.#told && !this.#end.signal.aborted) {
      this.#told = last;
      this.#listener(BigInt(last));
    }
    return last;
  }

  async #pause(milliseconds: number): Promise<void> {
    await delay(milliseconds, undefined, { signal: this.#end.signal }).catch(() => undefined);
  }
}

async function stopAtTrouble(messages: ConsumerMessages): Promise<void> {
  for await (const { type } of messages.status()) if (!HARMLESS.has(type)) messages.stop();
}
