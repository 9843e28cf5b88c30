import {
  AckPolicy,
  DeliverPolicy,
  JetStreamApiError,
  type JetStreamPublishOptions,
  type JetStreamManager,
  type MsgRequest,
  type NextMsgRequest,
  type StoredMsg,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { isStreamNotFound, isSubjectTaken, type JetStreamConnection } from './connection';

/** Room for the header of a message. */
const HEADER_BYTES = 512;

/** When the server removes a consumer that counted and could not be deleted, in milliseconds. */
const COUNTING_AGE = 10_000;

/** The streams of an event log, for one call: each request ends by the deadline of the call. */
export interface LogStreams {
  readonly events: Stream;
  /** Which event each key of a sender names. */
  readonly keys: Stream;
  /** Takes a message now and then to see whether JetStream has room, and forgets it. */
  readonly probe: Stream;
  /** As `performance.now` tells the time: a step of the clock ends no call. */
  readonly deadline: number;
}

/** Begins a call. */
export type BeginCall = () => LogStreams;

/** @param stream - the name of the stream of events. */
export function logStreams(
  connection: JetStreamConnection,
  stream: string,
  deadline = connection.deadline(),
): LogStreams {
  const named = (name: string) => new Stream(connection, name, deadline);
  return {
    events: named(stream),
    keys: named(`${stream}_KEYS`),
    probe: named(`${stream}_PROBE`),
    deadline,
  };
}

/** A message. The library's own decodes its data each time that it is asked for. */
export type Message = Pick<StoredMsg, 'seq' | 'subject' | 'time' | 'data'>;

/** The size of a stream, and its first and last position. */
interface StreamState {
  /** The first position that retention has not passed, and the last one, which in an empty stream is the one before it. */
  readonly first: number;
  readonly last: number;
  readonly messages: number;
  readonly bytes: number;
  /** When the message at the first position was stored, in milliseconds since 1970; undefined for an empty stream. */
  readonly firstTime: number | undefined;
}

/**
 * Stores messages in a stream and fetches what its leader holds, until a deadline.
 *
 * Relies on one condition only: that a subject is empty. Another last message is looked for before the servers agree on their order, so
 * several writers can pass that at once (nats-server 2.9.10, three replicas: in 398 of 400 trials).
 */
export class Stream {
  readonly name: string;
  readonly #connection: JetStreamConnection;
  readonly #deadline: number;

  constructor(connection: JetStreamConnection, name: string, deadline: number) {
    this.#connection = connection;
    this.name = name;
    this.#deadline = deadline;
  }

  /**
   * Stores a message on a subject whose last message is at `last`, 0 for none, and resolves to its position; undefined where it is
   * another, which may be this very message if it was sent before and the acknowledgement was lost.
   */
  async putAfter(last: number, subject: string, body: Uint8Array): Promise<number | undefined> {
    try {
      return await this.#publish(subject, body, { expect: { lastSubjectSequence: last } });
    } catch (error) {
      if (isSubjectTaken(error)) return undefined;
      throw error;
    }
  }

  /** Stores a message after those on its subject: once, or more often when an acknowledgement is lost. */
  async put(subject: string, body: Uint8Array): Promise<void> {
    await this.#publish(subject, body);
  }

  #publish(subject: string, body: Uint8Array, options?: Partial<JetStreamPublishOptions>): Promise<number> {
    return this.#connection.retry(
      this.#deadline,
      async () => (await this.#connection.client.publish(subject, body, options)).seq,
    );
  }

  /** Maximum bytes of a message. */
  maxBytes(): number {
    return this.#connection.maxPayload() - HEADER_BYTES;
  }

  /** The last message on a subject. */
  last(subject: string): Promise<Message | undefined> {
    return this.#message({ last_by_subj: subject });
  }

  /** The message at a position. Positions begin at 1. */
  async at(position: number): Promise<Message | undefined> {
    return position < 1 ? undefined : this.#message({ seq: position });
  }

  /** The first message at a position or after it, on any subject or on the one that is given. */
  next(position: number, subject = '>'): Promise<Message | undefined> {
    const query: NextMsgRequest & { seq: number } = { seq: Math.max(1, position), next_by_subj: subject };
    return this.#message(query);
  }

  /** The first message after a position, of a server that has one: while there is none, the leader lags behind. */
  firstAfter(position: number): Promise<Message> {
    return this.#connection.retry(this.#deadline, async () => {
      const found = await this.next(position + 1);
      if (found === undefined) throw new Error(`the leader of the stream ${this.name} lags behind`);
      return found;
    });
  }

  async #message(query: MsgRequest): Promise<Message | undefined> {
    const found = await this.#ask((manager) => manager.streams.getMessage(this.name, query));
    return found === null ? undefined : { seq: found.seq, subject: found.subject, time: found.time, data: found.data };
  }

  /** The subjects of the messages that a filter finds. */
  async subjects(filter: string): Promise<string[]> {
    const { state } = await this.#ask(({ streams }) => streams.info(this.name, { subjects_filter: filter }));
    return Object.keys(state.subjects ?? {});
  }

  /** Settings and state of the stream, from its leader; undefined if it does not exist. */
  async info(): Promise<StreamInfo | undefined> {
    try {
      return await this.#ask((manager) => manager.streams.info(this.name));
    } catch (error) {
      if (isStreamNotFound(error)) return undefined;
      throw error;
    }
  }

  /** As {@link info}. @throws the stream does not exist. */
  async requireInfo(): Promise<StreamInfo> {
    const info = await this.info();
    if (info === undefined) throw new Error(`the stream ${this.name} does not exist`);
    return info;
  }

  /** The state of the stream, from its leader. A server that lags behind may know less, and an earlier position. */
  async state(): Promise<StreamState> {
    const { state } = await this.requireInfo();
    return {
      first: Math.max(1, state.first_seq),
      last: state.last_seq,
      messages: state.messages,
      bytes: state.bytes,
      firstTime: state.messages === 0 ? undefined : Date.parse(state.first_ts),
    };
  }

  /** The first position whose message was stored at a time or later; one after the last if there is none. */
  async firstStoredSince(time: number): Promise<number> {
    const { first, last } = await this.state();
    let from = first;
    // Every message before `from` is older, none from `to` on is: positions grow with the time of storing.
    for (let to = last + 1; from < to;) {
      const middle = Math.floor((from + to) / 2);
      const next = await this.next(middle);
      if (next !== undefined && next.time.getTime() < time) from = next.seq + 1;
      else to = middle;
    }
    return from;
  }

  /**
   * How many messages were stored at a time or later: what a consumer that begins there has before it. Nothing is read, and the
   * server finds the beginning in the index of its store.
   */
  async countSince(time: number): Promise<number> {
    const { name, num_pending: pending } = await this.#ask(({ consumers }) =>
      consumers.add(this.name, {
        deliver_policy: DeliverPolicy.StartTime,
        opt_start_time: new Date(time).toISOString(),
        ack_policy: AckPolicy.None,
        inactive_threshold: nanos(COUNTING_AGE),
        mem_storage: true,
        num_replicas: 1,
      }),
    );
    await this.#connection.manager.consumers.delete(this.name, name).catch(() => undefined);
    return pending;
  }

  /** Removes the message at a position, if it still exists; each server also overwrites its copy. */
  async erase(position: number): Promise<void> {
    await this.#ask(async ({ streams }) => {
      try {
        await streams.deleteMessage(this.name, position, true);
      } catch (error) {
        if (!(error instanceof JetStreamApiError)) throw error;
        if ((await streams.getMessage(this.name, { seq: position })) !== null) throw error;
      }
    });
  }

  /** Removes the messages before a position, on all subjects or on the one that is given. */
  async removeBefore(position: number, subject?: string): Promise<void> {
    const which = { seq: position, ...(subject === undefined ? {} : { filter: subject }) };
    await this.#ask(({ streams }) => streams.purge(this.name, which));
  }

  /** Creates the stream and resolves to its settings. */
  async make(settings: Partial<StreamConfig>): Promise<StreamConfig> {
    const { config } = await this.#ask(({ streams }) => streams.add({ ...settings, name: this.name }));
    return config;
  }

  #ask<T>(request: (manager: JetStreamManager) => Promise<T>): Promise<T> {
    return this.#connection.retry(this.#deadline, () => request(this.#connection.manager));
  }
}
