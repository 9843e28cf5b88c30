import { DiscardPolicy, RetentionPolicy, StorageType, type StreamConfig, type StreamInfo } from '@nats-io/jetstream';
import { millis, nanos } from '@nats-io/transport-node';
import type { Retention } from '../event-log';
import { isStreamNotFound, type JetStreamConnection } from './connection';

/** The streams of an event log. */
export interface StreamNames {
  readonly events: string;
  /** Which event each key of a sender names. */
  readonly keys: string;
  /** Takes a message now and then to see whether JetStream has room, and forgets it. */
  readonly probe: string;
}

/** How the streams of a log are set up. */
export interface StreamOptions {
  /** On how many servers the log is kept. */
  readonly replicas: number;
  readonly retention: Retention;
}

export function streamNames(stream: string): StreamNames {
  return { events: stream, keys: `${stream}_KEYS`, probe: `${stream}_PROBE` };
}

/** How long a key outlives its event, in milliseconds, so that no event loses its key. */
export const KEYS_EXTRA_AGE = 600_000;

/** How long a probe is kept, in milliseconds. */
const PROBE_AGE = 1000;

type Settings = Pick<
  StreamConfig,
  | 'subjects'
  | 'storage'
  | 'retention'
  | 'discard'
  | 'num_replicas'
  | 'max_msgs'
  | 'max_age'
  | 'max_bytes'
  | 'max_msg_size'
  | 'max_msgs_per_subject'
>;

/** The option of `nats stream edit` for each setting that can be edited. */
const EDIT: Readonly<Partial<Record<keyof Settings, (value: unknown) => string>>> = {
  subjects: (value) => `--subjects=${String(value)}`,
  discard: (value) => `--discard=${String(value)}`,
  num_replicas: (value) => `--replicas=${String(value)}`,
  max_msgs: (value) => `--max-msgs=${String(value)}`,
  max_age: (value) => `--max-age=${String(millis(Number(value)) / 1000)}s`,
  max_bytes: (value) => `--max-bytes=${String(value)}`,
  max_msg_size: (value) => `--max-msg-size=${String(value)}`,
  max_msgs_per_subject: (value) => `--max-msgs-per-subject=${String(value)}`,
};

/**
 * Makes the streams that are missing and checks those that exist.
 *
 * @throws a stream has other settings than the configuration asks for; the message names each one.
 */
export async function provideStreams(
  connection: JetStreamConnection,
  names: StreamNames,
  options: StreamOptions,
  deadline: number,
): Promise<void> {
  const events = await infoOf(connection, names.events, deadline);
  const keys = await infoOf(connection, names.keys, deadline);
  if (events === undefined && keys !== undefined) {
    throw new Error(
      `the stream ${names.events} is missing, but its keys exist and would keep events out: nats stream rm ${names.keys}`,
    );
  }
  if (events !== undefined && events.state.messages > 0 && keys === undefined) throw new Error(keysMissing(names));
  for (const [name, settings] of Object.entries(wantedSettings(names, options))) {
    const info = await infoOf(connection, name, deadline);
    const found = info?.config ?? (await makeStream(connection, name, settings, deadline));
    const wrong = differing(found, settings);
    if (wrong.length > 0) throw new Error(contradiction(name, wrong, found, settings));
  }
  await provideProbe(connection, names, options.replicas, deadline);
}

/** Begins the description of the stream of keys; the sources follow as a JSON array. */
const OWN_SOURCES = 'Own sources of the service: ';

/**
 * Notes a source of the service's own in the description of the stream of keys, which lasts as long as the stream, and
 * returns all that are noted: the service may have had another path before.
 */
export async function noteOwnSource(
  connection: JetStreamConnection,
  { keys }: StreamNames,
  source: string,
  deadline: number,
): Promise<string[]> {
  const info = await infoOf(connection, keys, deadline);
  const noted = ownSources(info?.config.description ?? '');
  if (noted.includes(source)) return noted;
  const sources = [...noted, source];
  const description = `${OWN_SOURCES}${JSON.stringify(sources)}`;
  await connection.retry(deadline, () => connection.manager.streams.update(keys, { description }));
  return sources;
}

function ownSources(description: string): string[] {
  if (!description.startsWith(OWN_SOURCES)) return [];
  try {
    return JSON.parse(description.slice(OWN_SOURCES.length)) as string[];
  } catch {
    return [];
  }
}

/**
 * Tells what the loss of the keys means, and what helps. The events can still be read, so that they can be exported; their
 * archive holds the keys.
 */
export function keysMissing({ events, keys }: StreamNames): string {
  return (
    `the stream ${keys} is missing, so repeated calls with a key of an event in ${events} would be recorded again. ` +
    `To restore the keys, export the events (npm run events -- --export FILE), remove the stream (nats stream rm ${events}) ` +
    'and import them (npm run events -- --import FILE)'
  );
}

/** @throws the stream of events is missing. */
export async function requireEvents(
  connection: JetStreamConnection,
  names: StreamNames,
  deadline: number,
): Promise<void> {
  if ((await infoOf(connection, names.events, deadline)) === undefined) {
    throw new Error(`the stream ${names.events} does not exist`);
  }
}

/** Makes the stream of probes, anew if it is set up otherwise: it holds nothing worth keeping. */
export async function provideProbe(
  connection: JetStreamConnection,
  { probe: name }: StreamNames,
  replicas: number,
  deadline: number,
): Promise<void> {
  const settings: Settings = { ...commonSettings(replicas), subjects: [name], max_msgs: -1, max_age: nanos(PROBE_AGE) };
  const info = await infoOf(connection, name, deadline);
  if (info !== undefined) {
    if (differing(info.config, settings).length === 0) return;
    await connection.retry(deadline, () => connection.manager.streams.delete(name));
  }
  await makeStream(connection, name, settings, deadline);
}

function wantedSettings(
  { events, keys }: StreamNames,
  { replicas, retention }: StreamOptions,
): Record<string, Settings> {
  const { maxEvents, maxAge } = retention;
  const common = commonSettings(replicas);
  return {
    [events]: {
      ...common,
      subjects: [`${events}.*.*`],
      max_msgs: maxEvents ?? -1,
      max_age: nanos(maxAge ?? 0),
    },
    [keys]: {
      ...common,
      subjects: [`${keys}.*`],
      // A limit would let the keys of one event evict those of another: JetStreamRetention keeps the stream bounded.
      max_msgs: -1,
      max_age: maxAge === undefined ? 0 : nanos(maxAge + KEYS_EXTRA_AGE),
    },
  };
}

function commonSettings(replicas: number) {
  return {
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    num_replicas: replicas,
    max_bytes: -1,
    max_msg_size: -1,
    // Not 1 for the keys either, though only the last message counts: a server that was away while messages in the middle
    // of a stream were removed lacks others after it has caught up (seen with nats-server 2.9.10).
    max_msgs_per_subject: -1,
  };
}

/** What the leader of a stream tells of it. Undefined: the stream does not exist. */
export async function infoOf(
  connection: JetStreamConnection,
  name: string,
  deadline: number,
): Promise<StreamInfo | undefined> {
  return connection.retry(deadline, async () => {
    try {
      return await connection.manager.streams.info(name);
    } catch (error) {
      if (isStreamNotFound(error)) return undefined;
      throw error;
    }
  });
}

async function makeStream(
  connection: JetStreamConnection,
  name: string,
  settings: Settings,
  deadline: number,
): Promise<Settings> {
  const { config } = await connection.retry(deadline, () => connection.manager.streams.add({ name, ...settings }));
  return config;
}

function differing(found: Settings, wanted: Settings): (keyof Settings)[] {
  return (Object.keys(wanted) as (keyof Settings)[]).filter((key) => !agrees(key, found, wanted));
}

function agrees(key: keyof Settings, found: Settings, wanted: Settings): boolean {
  if (key === 'num_replicas') return found.num_replicas >= wanted.num_replicas;
  return JSON.stringify(found[key]) === JSON.stringify(wanted[key]);
}

function contradiction(name: string, wrong: (keyof Settings)[], found: Settings, wanted: Settings): string {
  const differences = wrong.map((key) => `${key} is ${shown(key, found[key])} and must be ${shown(key, wanted[key])}`);
  const edits = wrong.map((key) => EDIT[key]?.(wanted[key]));
  const advice = edits.every((edit) => edit !== undefined)
    ? `Change the configuration, or the stream: nats stream edit ${name} ${edits.join(' ')}`
    : 'This cannot be edited: choose another stream name, or export the events, remove the stream and import them.';
  return `The stream ${name} is not set up as the configuration says: ${differences.join('; ')}. ${advice}`;
}

function shown(key: keyof Settings, value: Settings[keyof Settings] | undefined): string {
  if (key === 'max_age') return `${String(millis(Number(value)) / 1000)}s`;
  return Array.isArray(value) ? value.join(',') : String(value);
}
