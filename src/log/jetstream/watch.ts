import { setTimeout as delay } from 'node:timers/promises';
import type { ConsumerMessages, ConsumerNotification } from '@nats-io/jetstream';
import type { JetStreamConnection } from './connection';
import type { StreamNames } from './schema';

/** Shortest pause between two questions for the newest position while events keep coming, in milliseconds. */
const LOOK_PAUSE = 10;

/** Pause before the watch begins again after it was interrupted, in milliseconds. */
const RESTART_PAUSE = 100;

/** How long one request for messages stands, and how often the server says that there are none, in milliseconds. */
const PULL = { expires: 2000, idle_heartbeat: 1000 };

/** How long the server keeps a consumer that no client asks for messages, in milliseconds. */
const CONSUMER_AGE = 30_000;

/** After any other notification it is not certain that the consumer goes on where it was. */
const HARMLESS: ReadonlySet<ConsumerNotification['type']> = new Set(['heartbeat', 'next', 'debug', 'discard']);

/**
 * Tells of new events in the stream. An ordered consumer, without the events' contents, shows that there are some. What is
 * told is the position that the leader of the stream then names, since readers ask the leader too, and the server on
 * which the consumer runs may be ahead of it. Whenever the connection or the consumer is lost the watch begins anew.
 */
export class JetStreamWatch {
  readonly #connection: JetStreamConnection;
  readonly #names: StreamNames;
  readonly #newest: () => Promise<number>;
  readonly #tell: (newest: number) => void;
  readonly #end = new AbortController();
  readonly #ended: Promise<void>;
  /** The position that the leader named last, and the last one that the consumer has shown. */
  #named = 0;
  #shown = 0;
  #catchingUp = false;

  /** @param newest - asks the leader for the newest position. */
  constructor(
    connection: JetStreamConnection,
    names: StreamNames,
    newest: () => Promise<number>,
    tell: (newest: number) => void,
  ) {
    this.#connection = connection;
    this.#names = names;
    this.#newest = newest;
    this.#tell = tell;
    this.#ended = this.#run();
  }

  /** Resolves when nothing is in progress any more. */
  end(): Promise<void> {
    this.#end.abort();
    return this.#ended;
  }

  async #run(): Promise<void> {
    while (!this.#end.signal.aborted) {
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
    this.#shown = 0;
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
        this.#shown = seq;
        if (seq > this.#named) void this.#catchUp();
      }
    } finally {
      this.#end.signal.removeEventListener('abort', stop);
    }
  }

  /** Looks until the leader names what the consumer has shown. Never rejects. */
  async #catchUp(): Promise<void> {
    if (this.#catchingUp) return;
    this.#catchingUp = true;
    try {
      do {
        await this.#look();
        await this.#pause(LOOK_PAUSE);
      } while (this.#named < this.#shown && !this.#end.signal.aborted);
    } catch {
      // As above.
    } finally {
      this.#catchingUp = false;
    }
  }

  async #look(): Promise<number> {
    this.#named = await this.#newest();
    this.#tell(this.#named);
    return this.#named;
  }

  async #pause(milliseconds: number): Promise<void> {
    await delay(milliseconds, undefined, { signal: this.#end.signal }).catch(() => undefined);
  }
}

async function stopAtTrouble(messages: ConsumerMessages): Promise<void> {
  for await (const { type } of messages.status()) if (!HARMLESS.has(type)) messages.stop();
}
