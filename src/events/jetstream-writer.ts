import { JetStreamApiError, type MsgRequest, type StoredMsg } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import type { JetStreamConnection } from './jetstream-connection';

/** A message on its way into a stream. */
export interface ConditionalMessage {
  readonly subject: string;
  readonly body: Uint8Array;
  /** The position that the last message on the subject must have; 0: there must be none. */
  readonly previous: number;
  /** Under one name and condition a message is stored once. */
  readonly name: string;
  readonly fields?: Readonly<Record<string, string>>;
}

const WRONG_LAST_SEQUENCE = 10071;

/** Room for the header of a message. */
const HEADER_BYTES = 512;

/** Writes to streams under conditions that their servers check, and reads what their leaders have; each until a deadline. */
export class JetStreamWriter {
  readonly #connection: JetStreamConnection;

  constructor(connection: JetStreamConnection) {
    this.#connection = connection;
  }

  /**
   * Publishes a message and resolves to its position when it is stored. Undefined: the condition does not hold, or does
   * not any more since an earlier sending whose acknowledgement was lost. Sent again a message has the same message id.
   */
  async store(message: ConditionalMessage, deadline: number): Promise<number | undefined> {
    const { subject, body, previous, name, fields = {} } = message;
    const most = this.#connection.maxPayload();
    if (body.length + HEADER_BYTES > most) {
      throw new Error(`the event has more bytes than the ${String(most)} that NATS takes (max_payload)`);
    }
    return this.#connection.persist(deadline, async () => {
      const header = headers();
      for (const [field, value] of Object.entries(fields)) header.set(field, value);
      try {
        const { seq, duplicate } = await this.#connection.client.publish(subject, body, {
          msgID: `${name}.${String(previous)}`,
          expect: { lastSubjectSequence: previous },
          headers: header,
        });
        // A server can remember a message id whose message was lost with its leader: what is stored is looked at.
        return duplicate ? undefined : seq;
      } catch (error) {
        if (error instanceof JetStreamApiError && error.code === WRONG_LAST_SEQUENCE) return undefined;
        throw error;
      }
    });
  }

  /** The last message on a subject. */
  last(stream: string, subject: string, deadline: number): Promise<StoredMsg | undefined> {
    return this.#message(stream, { last_by_subj: subject }, deadline);
  }

  /** The message at a position. */
  at(stream: string, seq: number, deadline: number): Promise<StoredMsg | undefined> {
    return this.#message(stream, { seq }, deadline);
  }

  async #message(stream: string, query: MsgRequest, deadline: number): Promise<StoredMsg | undefined> {
    const { manager } = this.#connection;
    const message = await this.#connection.persist(deadline, () => manager.streams.getMessage(stream, query));
    return message ?? undefined;
  }

  /** The first position that retention has not passed. A server that is behind names one that is too small. */
  async firstPosition(stream: string, deadline: number): Promise<number> {
    const { manager } = this.#connection;
    const { state } = await this.#connection.persist(deadline, () => manager.streams.info(stream));
    return state.first_seq;
  }
}
