import { AckPolicy, DeliverPolicy } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import type { JetStreamConnection } from './connection';
import type { StreamNames } from './schema';

/** Most consumers that are made at a time. */
const CONSUMERS = 8;

/** When the server removes a consumer that could not be deleted, in milliseconds. */
const CONSUMER_AGE = 10_000;

/** Counts events by the time at which they were stored. */
export class JetStreamRates {
  readonly #connection: JetStreamConnection;
  readonly #names: StreamNames;

  constructor(connection: JetStreamConnection, names: StreamNames) {
    this.#connection = connection;
    this.#names = names;
  }

  /** As `LogEngine.counts`. */
  async counts(times: readonly number[], deadline: number): Promise<number[]> {
    const since: number[] = [];
    while (since.length < times.length) {
      const some = times.slice(since.length, since.length + CONSUMERS);
      since.push(...(await Promise.all(some.map((time) => this.#storedSince(time, deadline)))));
    }
    // Events that are stored between two of the requests are in the later answer only.
    return since.slice(1).map((later, i) => Math.max(0, (since[i] ?? 0) - later));
  }

  /**
   * How many messages were stored at a time or later: what a consumer that begins there has before it. Nothing is read, and the
   * server finds the beginning in the index of its store.
   */
  async #storedSince(time: number, deadline: number): Promise<number> {
    const { events } = this.#names;
    const { consumers } = this.#connection.manager;
    const { name, num_pending: pending } = await this.#connection.retry(deadline, () =>
      consumers.add(events, {
        deliver_policy: DeliverPolicy.StartTime,
        opt_start_time: new Date(time).toISOString(),
        ack_policy: AckPolicy.None,
        inactive_threshold: nanos(CONSUMER_AGE),
        mem_storage: true,
        num_replicas: 1,
      }),
    );
    await consumers.delete(events, name).catch(() => undefined);
    return pending;
  }
}
