import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  type MsgRequest,
  type NextMsgRequest,
  type StoredMsg,
  type StreamConfig,
  type StreamInfo,
  type StreamState,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { isSubjectTaken, StreamSettingsError, type JetStreamConnection } from './connection';

/** Room for the header of a message. */
const HEADER_BYTES = 512;

/** When the server removes a consumer that could not be deleted, in milliseconds. */
const CONSUMER_AGE = 10_000;

/** The latest time that a server can compare, in milliseconds since 1970-01-01T00:00Z. */
const LATEST = 9e12;

/** Returns the streams of an event log for one call, by whose deadline, in milliseconds of `performance.now`, each request ends. */
export function logStreams(connection: JetStreamConnection, name: string, deadline = connection.deadline()) {
  const stream = (end: string, tokens = '') => new Stream(connection, name + end, deadline, tokens);
  // `keys` says which event each key of a sender names; messages in `probe` show whether there is room, and are forgotten.
  return {
    events: stream('', '.*.*'),
    keys: stream('_KEYS', '.*'),
    probe: stream('_PROBE'),
    deadline,
    /** Of a message. */
    maxBytes: connection.maxPayload() - HEADER_BYTES,
  };
}

export type LogStreams = ReturnType<typeof logStreams>;
export type BeginCall = () => LogStreams;

/** The library's own type decodes its data each time that it is asked for. */
export type Message = Pick<StoredMsg, 'seq' | 'time' | 'data'>;

/** Stores messages in a stream and fetches what its leader holds, until a deadline. */
export class Stream {
  /** Matches the subjects of its messages. */
  readonly wildcard: string;

  constructor(
    private readonly connection: JetStreamConnection,
    readonly name: string,
    private readonly deadline: number,
    tokens = '',
  ) {
    this.wildcard = name + tokens;
  }

  /** Stores a message, whatever its subject has. */
  put(subject: string, body: Uint8Array): Promise<unknown> {
    return this.#publish(subject, body);
  }

  /** Stores a message on an empty subject. @returns its position; undefined if there is one, perhaps this, whose acknowledgement was lost. */
  putFirst(subject: string, body: Uint8Array): Promise<number | undefined> {
    return this.#publish(subject, body, 0);
  }

  /**
   * Stores a message if the last one on its subject is at a position. Several writers may succeed, so they must store the same: servers
   * compare positions other than 0 before they agree on an order (nats-server 2.9.10).
   */
  putAfter(position: number, subject: string, body: Uint8Array): Promise<unknown> {
    return this.#publish(subject, body, position);
  }

  #publish(subject: string, body: Uint8Array, lastSubjectSequence?: number): Promise<number | undefined> {
    const options = lastSubjectSequence === undefined ? {} : { expect: { lastSubjectSequence } };
    return this.connection.retry(this.deadline, async () => {
      try {
        return (await this.connection.client.publish(subject, body, options)).seq;
      } catch (error) {
        if (isSubjectTaken(error)) return undefined;
        const info = await this.connection.manager.streams.info(this.name).catch(() => undefined);
        if (info !== undefined) this.requireOpen(info, body.length);
        throw error;
      }
    });
  }

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

  /** The first message after a position, known to exist; waits while the leader lags behind. */
  firstAfter(position: number): Promise<Message> {
    return this.connection.retry(this.deadline, async () => {
      const found = await this.next(position + 1);
      if (found === undefined) throw new Error(`the leader of the stream ${this.name} lags behind`);
      return found;
    });
  }

  async #message(query: MsgRequest): Promise<Message | undefined> {
    const found = await this.#ask((manager) => manager.streams.getMessage(this.name, query));
    return found === null ? undefined : { seq: found.seq, time: found.time, data: found.data };
  }

  /** The subjects of the messages that a filter finds. */
  async subjects(filter: string): Promise<string[]> {
    const { state } = await this.#ask(({ streams }) => streams.info(this.name, { subjects_filter: filter }));
    return Object.keys(state.subjects ?? {});
  }

  /** @throws {StreamSettingsError} the stream was changed after the start, and accepts no message of this size. */
  requireOpen({ config, state }: StreamInfo, bytes: number): void {
    const { sealed, no_ack: isSilent, subjects, discard, discard_new_per_subject: isOnce } = config;
    const reached = (limit: number, amount: number): boolean => limit > 0 && amount > limit;
    const isFull =
      discard === DiscardPolicy.New &&
      (isOnce || reached(config.max_msgs, state.messages + 1) || reached(config.max_bytes, state.bytes + bytes));
    const problem =
      (sealed && 'is sealed') ||
      (isSilent && 'acknowledges nothing (no_ack)') ||
      (!subjects.includes(this.wildcard) && `does not have the subjects ${this.wildcard}`) ||
      (isFull && 'is full, and refuses new messages (discard: new)');
    if (problem) throw new StreamSettingsError(`the stream ${this.name} ${problem}`);
  }

  /** Settings and state of the stream; undefined if it does not exist. */
  async info(): Promise<StreamInfo | undefined> {
    try {
      return await this.#ask(({ streams }) => streams.info(this.name));
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) return undefined;
      throw error;
    }
  }

  /** As {@link info}. @throws the stream does not exist. */
  async requireInfo(): Promise<StreamInfo> {
    const info = await this.info();
    if (info === undefined) throw new Error(`the stream ${this.name} does not exist`);
    return info;
  }

  /** A leader that lags behind may answer with an earlier state. */
  async state(): Promise<StreamState> {
    return (await this.requireInfo()).state;
  }

  /** The first position whose message was stored at a time or later, or the one after the last, and how many messages were. */
  async storedSince(time: number): Promise<{ readonly first: number; readonly messages: number }> {
    const consumer = await this.#ask(({ consumers }) =>
      consumers.add(this.name, {
        deliver_policy: DeliverPolicy.StartTime,
        opt_start_time: new Date(Math.max(0, Math.min(time, LATEST))).toISOString(),
        ack_policy: AckPolicy.None,
        inactive_threshold: nanos(CONSUMER_AGE),
        mem_storage: true,
        num_replicas: 1,
      }),
    );
    await this.connection.manager.consumers.delete(this.name, consumer.name).catch(() => undefined);
    return { first: consumer.delivered.stream_seq + 1, messages: consumer.num_pending };
  }

  /** Removes the message at a position, if it still exists; each server also overwrites its copy. */
  async erase(position: number): Promise<void> {
    await this.#ask(({ streams }) =>
      streams.deleteMessage(this.name, position, true).catch(async (error: unknown) => {
        if ((await streams.getMessage(this.name, { seq: position })) !== null) throw error;
      }),
    );
  }

  /** Removes the messages before a position, on all subjects or on the one that is given. */
  async removeBefore(position: number, subject?: string): Promise<void> {
    const which = { seq: position, ...(subject === undefined ? {} : { filter: subject }) };
    await this.#ask(({ streams }) => streams.purge(this.name, which));
  }

  async make(settings: Partial<StreamConfig>): Promise<StreamConfig> {
    return (await this.#ask(({ streams }) => streams.add({ ...settings, name: this.name }))).config;
  }

  #ask<T>(request: (manager: JetStreamManager) => Promise<T>): Promise<T> {
    return this.connection.retry(this.deadline, () => request(this.connection.manager));
  }
}
