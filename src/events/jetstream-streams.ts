import { DiscardPolicy, JetStreamApiError, RetentionPolicy, StorageType, type StreamConfig } from '@nats-io/jetstream';
import type { Retention } from './event-log';
import type { JetStreamConnection } from './jetstream-connection';

/** The two streams of an event log: its events, and which event the key of a sender names. */
export interface StreamNames {
  readonly events: string;
  readonly keys: string;
}

/** How the streams of a log are set up. */
export interface StreamOptions {
  /** On how many servers the log is kept. */
  readonly replicas: number;
  readonly retention: Retention;
}

export function streamNames(stream: string): StreamNames {
  return { events: stream, keys: `${stream}_KEYS` };
}

const STREAM_NOT_FOUND = 10059;
const NANOSECONDS = 1_000_000;

/** A key outlives its event by this, in milliseconds, so that no event is there whose key is not. */
const KEYS_EXTRA_AGE = 600_000;
/** An event has at most two keys, each with a claim and a place, and is listed under its id; a list may take two messages. */
const MESSAGES_OF_KEYS = 6;
const KEYS_EXTRA = 1000;

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

/** The option of `nats stream edit` for what can be edited. */
const EDIT: Readonly<Partial<Record<keyof Settings, (value: unknown) => string>>> = {
  subjects: (value) => `--subjects=${String(value)}`,
  discard: (value) => `--discard=${String(value)}`,
  num_replicas: (value) => `--replicas=${String(value)}`,
  max_msgs: (value) => `--max-msgs=${String(value)}`,
  max_age: (value) => `--max-age=${String(Number(value) / NANOSECONDS / 1000)}s`,
  max_bytes: (value) => `--max-bytes=${String(value)}`,
  max_msg_size: (value) => `--max-msg-size=${String(value)}`,
  max_msgs_per_subject: (value) => `--max-msgs-per-subject=${String(value)}`,
};

/**
 * Makes the streams where they are missing, and checks those that are there.
 *
 * @throws a stream has other settings than the configuration asks for; the message names each.
 */
export async function provideStreams(
  connection: JetStreamConnection,
  names: StreamNames,
  options: StreamOptions,
  deadline: number,
): Promise<void> {
  if (
    (await settingsOf(connection, names.events, deadline)) === undefined &&
    (await settingsOf(connection, names.keys, deadline))
  ) {
    throw new Error(
      `there is no stream ${names.events}, but its keys are there and would keep events out: nats stream rm ${names.keys}`,
    );
  }
  for (const [name, settings] of Object.entries(wantedSettings(names, options))) {
    const found =
      (await settingsOf(connection, name, deadline)) ?? (await makeStream(connection, name, settings, deadline));
    const wrong = (Object.keys(settings) as (keyof Settings)[]).filter((key) => !agrees(key, found, settings));
    if (wrong.length > 0) throw new Error(contradiction(name, wrong, found, settings));
  }
}

/** @throws the log's streams are not there. */
export async function requireStreams(
  connection: JetStreamConnection,
  names: StreamNames,
  deadline: number,
): Promise<void> {
  for (const name of Object.values(names) as string[]) {
    if ((await settingsOf(connection, name, deadline)) === undefined) throw new Error(`there is no stream ${name}`);
  }
}

function wantedSettings(
  { events, keys }: StreamNames,
  { replicas, retention }: StreamOptions,
): Record<string, Settings> {
  const { maxEvents, maxAge } = retention;
  const common = {
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    num_replicas: replicas,
    max_bytes: -1,
    max_msg_size: -1,
    // Not 1 for the keys either, though only the last counts: a server (seen with 2.9.10) that was away while messages in the
    // middle of a stream went lacks others after it has caught up.
    max_msgs_per_subject: -1,
  };
  return {
    [events]: {
      ...common,
      subjects: [`${events}.*`],
      max_msgs: maxEvents ?? -1,
      max_age: (maxAge ?? 0) * NANOSECONDS,
    },
    [keys]: {
      ...common,
      subjects: [`${keys}.*`],
      max_msgs: maxEvents === undefined ? -1 : maxEvents * MESSAGES_OF_KEYS + KEYS_EXTRA,
      max_age: maxAge === undefined ? 0 : (maxAge + KEYS_EXTRA_AGE) * NANOSECONDS,
    },
  };
}

async function settingsOf(
  connection: JetStreamConnection,
  name: string,
  deadline: number,
): Promise<Settings | undefined> {
  return connection.persist(deadline, async () => {
    try {
      return (await connection.manager.streams.info(name)).config;
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND) return undefined;
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
  const { config } = await connection.persist(deadline, () => connection.manager.streams.add({ name, ...settings }));
  return config;
}

function agrees(key: keyof Settings, found: Settings, wanted: Settings): boolean {
  if (key === 'num_replicas') return found.num_replicas >= wanted.num_replicas;
  return JSON.stringify(found[key]) === JSON.stringify(wanted[key]);
}

function contradiction(name: string, wrong: (keyof Settings)[], found: Settings, wanted: Settings): string {
  const said = wrong.map((key) => `${key} is ${shown(key, found[key])} and must be ${shown(key, wanted[key])}`);
  const edits = wrong.map((key) => EDIT[key]?.(wanted[key]));
  const advice = edits.every((edit) => edit !== undefined)
    ? `Change the configuration, or the stream: nats stream edit ${name} ${edits.join(' ')}`
    : 'This cannot be edited: choose another stream name, or export the events, remove the stream and import them.';
  return `The stream ${name} is not set up as the configuration says: ${said.join('; ')}. ${advice}`;
}

function shown(key: keyof Settings, value: Settings[keyof Settings] | undefined): string {
  if (key === 'max_age') return `${String(Number(value) / NANOSECONDS / 1000)}s`;
  return Array.isArray(value) ? value.join(',') : String(value);
}
