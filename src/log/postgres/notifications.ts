import { once } from 'node:events';
import type { Client } from 'pg';
import { setTimeout as delay } from 'node:timers/promises';
import type { PostgresConnection } from './connection';
import { CHANNEL } from './recorder';

/** Pause before a lost connection is opened again, in milliseconds. */
const PAUSE = 500;

const POOLED =
  'A pooler such as PgBouncer answers in place of PostgreSQL, and may lose notifications: readers that wait hear of an event up to ' +
  '200 ms later. They hear of it at once if EVENT_LOG names the server.';

/** Listens for commits on one connection while there are followers. */
export class PostgresNotifications {
  readonly #connection: PostgresConnection;
  readonly #followers = new Set<(newest: number) => void>();
  #newest = 0;
  #listening: Promise<void> | undefined;
  #stop = new AbortController();
  /** Called with the key and the text of what an operator may want to change. */
  onHint: (key: string, message: string) => void = () => undefined;

  constructor(connection: PostgresConnection) {
    this.#connection = connection;
  }

  /** As `Engine.follow`. */
  follow(tell: (newest: number) => void): () => Promise<void> {
    this.#followers.add(tell);
    if (this.#listening === undefined) {
      this.#stop = new AbortController();
      this.#listening = this.#listen(this.#stop.signal);
    }
    return async () => {
      if (!this.#followers.delete(tell) || this.#followers.size > 0) return;
      const listening = this.#listening;
      this.#listening = undefined;
      this.#stop.abort();
      await listening;
    };
  }

  /** Notifications of earlier commits come too late from here on. Returns the position. */
  saw(newest: number): number {
    this.#newest = Math.max(this.#newest, newest);
    return newest;
  }

  async #listen(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      let client: Client | undefined;
      try {
        client = await this.#connection.listener();
        if (client === undefined) {
          this.onHint('postgres-pooler', POOLED);
          return;
        }
        client.on('notification', ({ payload }) => {
          const position = Number(payload);
          if (position > this.#newest) for (const tell of this.#followers) tell(this.saw(position));
        });
        await client.query(`LISTEN ${CHANNEL}`);
        await once(client, 'end', { signal: stop });
      } catch {
        // The looks of the watches find what is recorded meanwhile.
      }
      // A connection that is dead without a word does not end.
      (client as (Client & { unref?(): void }) | undefined)?.unref?.();
      await Promise.race([client?.end(), delay(PAUSE)]);
      await delay(PAUSE, undefined, { signal: stop }).catch(() => undefined);
    }
  }
}
