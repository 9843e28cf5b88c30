import { DiscardPolicy, type StreamInfo } from '@nats-io/jetstream';
import { millis } from '@nats-io/transport-node';
import { NoRoomError, type JetStreamConnection } from './connection';
import { infoOf, keysMissing, provideProbe, type StreamNames } from './schema';
import type { JetStreamStore } from './store';

/** A replica that has been silent for longer does not count, in milliseconds. */
const MAX_SILENCE = 3000;

/** Fewest bytes of a probe: more than most events have, and more than what is left in the last block of a file. */
const MIN_BYTES = 16 * 1024;

/** A probe that went well is not repeated for so many milliseconds, unless an event was refused meanwhile. */
const PROBE_INTERVAL = 1000;

/**
 * Tells whether the log can take events: both streams exist and have a leader and a majority, and JetStream has room.
 *
 * Only a write tells whether there is room: a limit may be that of an account, of a server or of a disk, and a server that
 * is full goes on answering everything else. So a probe is stored in a stream of its own, on as many servers as an event.
 * It is as large as the event that came last, and the stream forgets it after a second.
 */
export class JetStreamProbe {
  readonly #connection: JetStreamConnection;
  readonly #names: StreamNames;
  readonly #store: JetStreamStore;
  #probedAt = -Infinity;
  #probing: Promise<void> | undefined;

  constructor(connection: JetStreamConnection, names: StreamNames, store: JetStreamStore) {
    this.#connection = connection;
    this.#names = names;
    this.#store = store;
  }

  /**
   * @param eventBytes - the size of a usual event.
   * @throws the log cannot take events; the message says why.
   */
  async check(eventBytes: number, deadline: number): Promise<void> {
    const bytes = Math.min(this.#store.maxBytes(), Math.max(MIN_BYTES, eventBytes));
    const { events, keys } = this.#names;
    const [eventsInfo, keysInfo] = await Promise.all(
      [events, keys].map((name) => infoOf(this.#connection, name, deadline)),
    );
    if (eventsInfo === undefined) throw new Error(`the stream ${events} does not exist`);
    if (keysInfo === undefined) throw new Error(keysMissing(this.#names));
    for (const info of [eventsInfo, keysInfo]) {
      requireMajority(info);
      requireRoom(info, bytes);
    }
    if (performance.now() - this.#probedAt < PROBE_INTERVAL) return;
    this.#probing ??= this.#write(bytes, eventsInfo.config.num_replicas, deadline).finally(
      () => (this.#probing = undefined),
    );
    await this.#probing;
  }

  /** Makes the next check write a probe: an event was refused. */
  distrust(): void {
    this.#probedAt = -Infinity;
  }

  async #write(bytes: number, replicas: number, deadline: number): Promise<void> {
    const { probe } = this.#names;
    await provideProbe(this.#connection, this.#names, replicas, deadline);
    const started = performance.now();
    await this.#store.put(probe, Buffer.alloc(bytes), deadline);
    this.#probedAt = started;
  }
}

function requireMajority({ cluster, config }: StreamInfo): void {
  const followers = cluster?.replicas ?? [];
  const connected = followers.filter(({ offline, active }) => !offline && millis(active) < MAX_SILENCE).length;
  if ((connected + 1) * 2 > config.num_replicas) return;
  throw new Error(`of ${String(config.num_replicas)} replicas ${String(connected + 1)} answer`);
}

/** A stream is made without limits at which it refuses messages, but somebody may have edited it. */
function requireRoom({ config, state }: StreamInfo, bytes: number): void {
  if (config.discard !== DiscardPolicy.New) return;
  const { name, max_bytes: maxBytes, max_msgs: maxMessages } = config;
  if (maxBytes > 0 && state.bytes + bytes > maxBytes) {
    throw new NoRoomError(`the stream ${name} has ${String(state.bytes)} bytes of at most ${String(maxBytes)}`);
  }
  if (maxMessages > 0 && state.messages >= maxMessages) {
    throw new NoRoomError(
      `the stream ${name} has ${String(state.messages)} messages of at most ${String(maxMessages)}`,
    );
  }
}
