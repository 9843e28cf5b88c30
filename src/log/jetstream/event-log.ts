import type { NewEvent, StoredEvent } from '../../events/stored-event';
import { Semaphore } from '../../util/promises';
import { EventLogError, type Engine, type EventLogSettings } from '../engine';
import { EventLog } from '../event-log';
import { pageFrom, type EventQuery } from '../queries';
import { searchStep } from '../search';
import type { JetStreamAddress } from './address';
import { JetStreamConnection } from './connection';
import { decodeEvent, decodeReference, keysOf, slotsFilter } from './message';
import { recordEvents } from './recorder';
import { keysMissing, provideStreams, requireReady, retentionOfKeys } from './setup';
import { logStreams, type BeginCall, type LogStreams, type Stream } from './stream';
import { SEARCH_WINDOW, StreamWalk, TypeSearch, type Part } from './walk';

/** Which event log of a NATS cluster is opened, and how. */
export type JetStreamOptions = JetStreamAddress & EventLogSettings;

/** How far the clocks of an instance and a server may differ, in milliseconds. */
const CLOCK_TOLERANCE = 600_000;

/** How long a step of a search goes on, in milliseconds. */
const SEARCH_STEP_TIME = 50;

/** Maximum consumers that count at a time. */
const COUNTING_CONSUMERS = 8;

/** @throws {EventLogError} no server answers in time, the user is refused, or a stream has other settings. The message names the servers. */
export async function openJetStreamLog(options: JetStreamOptions): Promise<EventLog> {
  const { create = true, stream, replicas, retention, timeout, servers } = options;
  let connection: JetStreamConnection | undefined;
  try {
    const deadline = performance.now() + timeout;
    connection = await JetStreamConnection.open(options, timeout);
    const streams = logStreams(connection, stream, deadline);
    if (create) await provideStreams(streams, replicas, retention);
    // With any settings.
    else await streams.events.requireInfo();
    return new EventLog(engineOn(connection, options), options);
  } catch (cause) {
    await connection?.close();
    throw new EventLogError(`The event log ${stream} on ${servers.join(',')} cannot be opened.`, { cause });
  }
}

/** Keeps events in a stream of NATS JetStream. Durable means acknowledged, that is, kept by a majority of the replicas. */
function engineOn(connection: JetStreamConnection, { stream, retention }: JetStreamOptions): Engine {
  const begin = () => logStreams(connection, stream);
  const types = new TypeSearch();
  return {
    /** Each takes several round trips. */
    readsAtOnce: 8,
    watchPause: 50,
    // With an age alone the servers forget the keys, too.
    retention: retention.maxEvents === undefined ? undefined : retentionOfKeys(begin),
    maxEventBytes: begin().maxBytes,
    append: (events) => recordEvents(begin, events),
    check: () => requireReady(begin()),
    forget: (positions) => forgetEvents(begin, positions),
    close: () => connection.close(),
    newest: async () => (await begin().events.state()).last_seq,
    read: (query) => pageFrom(matching(begin(), types, query), query),

    async search(query) {
      const { events } = begin();
      const candidates = new StreamWalk(events, SEARCH_WINDOW).events(await partOf(query, query.from, events));
      const end = performance.now() + SEARCH_STEP_TIME;
      return searchStep(candidates, query, () => performance.now() > end);
    },

    async counts(times) {
      const { events } = begin();
      const counting = new Semaphore(COUNTING_CONSUMERS);
      const since = await Promise.all(times.map((time) => counting.run(() => events.storedSince(time))));
      // Events stored between two of the requests are in the later answer only.
      return since.slice(1).map((later, i) => Math.max(0, (since[i]?.messages ?? 0) - later.messages));
    },

    async stats() {
      const { events, keys } = begin();
      const [ofEvents, ofKeys] = await Promise.all([events.state(), keys.state()]);
      return { events: ofEvents.messages, bytes: ofEvents.bytes + ofKeys.bytes };
    },

    /** The servers check their files themselves, with a checksum for each message. */
    async verify() {
      const streams = begin();
      const { messages } = await streams.events.state();
      return messages > 0 && (await streams.keys.info()) === undefined ? [keysMissing(streams)] : [];
    },
  };
}

/** The events that a query asks for, in the order in which the page is filled. */
async function* matching({ events }: LogStreams, types: TypeSearch, query: EventQuery): AsyncGenerator<StoredEvent> {
  const { id, type, since, limit } = query;
  const walk = new StreamWalk(events);
  const part = await partOf(query, since, events);
  if (id !== undefined) yield* walk.onSubjects(await events.subjects(slotsFilter(events.name, id)), part);
  else if (type !== undefined) yield* types.find(events, type, part);
  else yield* walk.events(since === undefined ? { ...part, most: limit } : part);
}

/** Where the events of a query are that were recorded at a time or later: an event is stored after it was recorded. */
async function partOf(
  { after, before = Infinity }: Pick<EventQuery, 'after' | 'before'>,
  since: number | undefined,
  events: Stream,
): Promise<Part> {
  const first = since === undefined ? 1 : (await events.storedSince(since - CLOCK_TOLERANCE)).first;
  return { after: Math.max(after ?? 0, first - 1), before, isUpwards: after !== undefined, most: Infinity };
}

/** As `EventLog.forget`. */
export async function forgetEvents(begin: BeginCall, positions: readonly number[]): Promise<number[]> {
  const forgotten: number[] = [];
  for (const position of positions) {
    const streams = begin();
    const event = await new StreamWalk(streams.events).at(position);
    if (event === undefined) continue;
    // The event goes last: while it is there, the rest can be found again after a failure.
    await eraseKeys(streams, event);
    await streams.events.erase(position);
    forgotten.push(position);
  }
  return forgotten;
}

/** Erases the claims of the event's keys, which hold copies of it, and the references to it. */
async function eraseKeys({ keys }: LogStreams, event: NewEvent): Promise<void> {
  for (const { subject } of keysOf(keys.name, event)) {
    let message = await keys.next(1, subject);
    while (message !== undefined) {
      const { id } = decodeReference(message.data) ?? decodeEvent(message.data)?.event ?? {};
      if (id === event.id) await keys.erase(message.seq);
      message = await keys.next(message.seq + 1, subject);
    }
  }
}
