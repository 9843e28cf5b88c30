import { DiscardPolicy, RetentionPolicy, StorageType, type StreamInfo } from '@nats-io/jetstream';
import { millis, nanos } from '@nats-io/transport-node';
import type { Retention, RetentionSteps } from '../engine';
import type { BeginCall, LogStreams, Stream } from './stream';

/** How long a key outlives its event, in milliseconds, so that no event loses its key. */
const KEYS_EXTRA_AGE = 600_000;

/** How long a probe is kept, in milliseconds, and its bytes: more than what is left in the last block of a file. */
const PROBE_AGE = 1000;
const PROBE_BYTES = 16 * 1024;

/** Longest silence of a connected replica, in milliseconds. */
const MAX_SILENCE = 3000;

type Settings = ReturnType<typeof settingsFor>;

/** Creates missing streams. @throws a stream has other settings than the configuration asks for; the message names each one. */
export async function provideStreams(streams: LogStreams, replicas: number, retention: Retention): Promise<void> {
  const { events, keys, probe } = streams;
  // In this order, since others who make them at the same moment make the events first.
  const keysInfo = await keys.info();
  const eventsInfo = await events.info();
  if (eventsInfo === undefined && keysInfo !== undefined) {
    throw new Error(
      `the stream ${events.name} is missing, but its keys exist and would keep events out: nats stream rm ${keys.name}`,
    );
  }
  const hasEvents = eventsInfo !== undefined && eventsInfo.state.messages > 0;
  if (hasEvents && (keysInfo ?? (await keys.info())) === undefined) throw new Error(keysMissing(streams));
  // A number of messages as the limit would let the keys of one event evict those of another: `retentionOfKeys` bounds them.
  const keysAge = retention.maxAge === undefined ? undefined : retention.maxAge + KEYS_EXTRA_AGE;
  await provide(events, eventsInfo, settingsFor(events.wildcard, replicas, retention));
  await provide(keys, keysInfo, settingsFor(keys.wildcard, replicas, { maxAge: keysAge }));
  await provide(probe, await probe.info(), settingsFor(probe.wildcard, replicas, { maxAge: PROBE_AGE }));
}

async function provide(stream: Stream, info: StreamInfo | undefined, wanted: Settings): Promise<void> {
  const { name } = stream;
  const found = info?.config ?? (await stream.make(wanted));
  const wrong = (Object.keys(wanted) as (keyof Settings)[]).filter((key) =>
    key === 'num_replicas' ? found[key] < wanted[key] : String(found[key]) !== String(wanted[key]),
  );
  if (wrong.length === 0) return;
  const differences = wrong.map((key) => `${key} is ${shown(key, found[key])} and must be ${shown(key, wanted[key])}`);
  throw new Error(
    `The stream ${name} is not set up as the configuration says: ${differences.join('; ')}. Change the configuration, or the ` +
      `stream (nats stream edit ${name}); where it cannot be edited, choose another name, or export, remove and import it.`,
  );
}

export function keysMissing({ events, keys }: LogStreams): string {
  return (
    `the stream ${keys.name} is missing, so repeated calls with a key of an event in ${events.name} would be recorded again. ` +
    `Export the events, remove the stream (nats stream rm ${events.name}) and import them`
  );
}

/**
 * Checks that both streams have a majority of their replicas and take messages, and that one can be stored: an account, a server or a
 * disk that is full goes on answering everything else.
 *
 * @throws the log cannot take events.
 */
export async function requireReady(streams: LogStreams): Promise<void> {
  const { events, keys, probe } = streams;
  const [eventsInfo, keysInfo] = await Promise.all([events.requireInfo(), keys.info()]);
  if (keysInfo === undefined) throw new Error(keysMissing(streams));
  for (const info of [eventsInfo, keysInfo]) requireMajority(info);
  events.requireOpen(eventsInfo, PROBE_BYTES);
  keys.requireOpen(keysInfo, PROBE_BYTES);
  await probe.put(probe.name, Buffer.alloc(PROBE_BYTES));
}

/** @throws fewer than half of a stream's replicas, or just half, are connected to their leader. */
function requireMajority({ cluster, config }: StreamInfo): void {
  const followers = cluster?.replicas ?? [];
  const connected = followers.filter(({ offline, active }) => !offline && millis(active) < MAX_SILENCE).length;
  if ((connected + 1) * 2 > config.num_replicas) return;
  throw new Error(`of ${String(config.num_replicas)} replicas ${String(connected + 1)} answer`);
}

function settingsFor(subject: string, replicas: number, { maxEvents, maxAge }: Partial<Retention>) {
  return {
    subjects: [subject],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    num_replicas: replicas,
    max_msgs: maxEvents ?? -1,
    max_age: nanos(maxAge ?? 0),
    max_bytes: -1,
    max_msg_size: -1,
    // Not 1 for the keys either, though only the last message counts: a server that was away while messages in the middle
    // of a stream were removed lacks others after it has caught up (seen with nats-server 2.9.10).
    max_msgs_per_subject: -1,
  };
}

function shown(key: keyof Settings, value: unknown): string {
  return key === 'max_age' ? `${String(millis(Number(value)) / 1000)}s` : String(value);
}

/** Keys are removed when this many milliseconds of them are past their extra age, not one by one. */
const KEYS_STEP = 60_000;

/** Returns how the keys of forgotten events are forgotten: those that were stored long before the oldest event. Every instance does it. */
export function retentionOfKeys(begin: BeginCall): RetentionSteps {
  return {
    idlePause: 1000,
    isFixed: true,
    async step() {
      const { events, keys } = begin();
      const [ofEvents, ofKeys] = await Promise.all([events.state(), keys.state()]);
      const horizon = Date.parse(ofEvents.first_ts) - KEYS_EXTRA_AGE;
      if (ofEvents.messages > 0 && ofKeys.messages > 0 && Date.parse(ofKeys.first_ts) < horizon - KEYS_STEP)
        await keys.removeBefore((await keys.storedSince(horizon)).first);
      return false;
    },
  };
}
