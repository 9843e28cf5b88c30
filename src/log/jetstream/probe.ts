import type { StreamInfo } from '@nats-io/jetstream';
import { millis } from '@nats-io/transport-node';
import { keysMissing, provideProbe, requireSettings, settingsOf } from './setup';
import type { Retention } from '../event-log';
import type { LogStreams } from './stream';

/** A replica that has been silent for longer does not count, in milliseconds. */
const MAX_SILENCE = 3000;

/** Fewest bytes of a probe: more than most events have, and more than what is left in the last block of a file. */
const MIN_BYTES = 16 * 1024;

/** A probe that went well is not repeated for this long, in milliseconds, unless an event was refused meanwhile. */
const PROBE_INTERVAL = 1000;

/**
 * Checks that the log can take events and keeps them as configured: both streams exist, have their settings, which
 * may have been edited, a leader and a majority, and JetStream has room.
 *
 * Only a write tells whether there is room: a limit may be that of an account, of a server or of a disk, and a server that
 * is full goes on answering everything else. So a probe is stored in a stream of its own, on as many servers as an event.
 * It is as large as the event that came last, and the stream forgets it after a second.
 */
export class JetStreamProbe {
  readonly #replicas: number;
  readonly #retention: Retention;
  #probedAt = -Infinity;

  /** As the streams were set up. */
  constructor(replicas: number, retention: Retention) {
    this.#replicas = replicas;
    this.#retention = retention;
  }

  /**
   * @param eventBytes - the size of a usual event.
   * @throws the log cannot take events; the message says why.
   */
  async check(streams: LogStreams, eventBytes: number): Promise<void> {
    const { events, keys, probe } = streams;
    const [eventsInfo, keysInfo] = await Promise.all([events.requireInfo(), keys.info()]);
    if (keysInfo === undefined) throw new Error(keysMissing(streams));
    const wanted = settingsOf(streams, this.#replicas, this.#retention);
    requireSettings(events, eventsInfo.config, wanted.events);
    requireSettings(keys, keysInfo.config, wanted.keys);
    requireMajority(eventsInfo);
    requireMajority(keysInfo);
    if (performance.now() - this.#probedAt < PROBE_INTERVAL) return;
    const started = performance.now();
    await provideProbe(probe, eventsInfo.config.num_replicas);
    await probe.put(probe.name, Buffer.alloc(Math.min(probe.maxBytes(), Math.max(MIN_BYTES, eventBytes))));
    this.#probedAt = started;
  }

  /** Called after an event was refused: the next check writes a probe. */
  distrust(): void {
    this.#probedAt = -Infinity;
  }
}

/** @throws fewer than half of a stream's replicas, or just half, are connected to their leader. */
export function requireMajority({ cluster, config }: StreamInfo): void {
  const followers = cluster?.replicas ?? [];
  const connected = followers.filter(({ offline, active }) => !offline && millis(active) < MAX_SILENCE).length;
  if ((connected + 1) * 2 > config.num_replicas) return;
  throw new Error(`of ${String(config.num_replicas)} replicas ${String(connected + 1)} answer`);
}
