import type { StoredEvent } from '../../events/stored-event';
import { HttpClient } from '../http-client';
import { deliver, type Delivery } from './delivery';
import { messageOf, type MessageOptions } from './message';

/** The longest that an attempt may take, in milliseconds, its whole answer included. */
const ATTEMPT_TIMEOUT = 30_000;

/** The most bytes of an answer that are read: the connection of a longer one is closed. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** An address to which events are posted, one after the other over one connection. */
export class Target {
  readonly #url: URL;
  readonly #options: MessageOptions;
  readonly #report: (line: string) => void;
  readonly #client = new HttpClient({ timeout: ATTEMPT_TIMEOUT, maxBytes: MAX_ANSWER_BYTES, keepsConnection: true });

  /**
   * @param name - what messages call it. Paths and queries of webhooks hold secrets, as users and passwords do.
   * @param report - prints a line.
   */
  constructor(
    readonly name: string,
    url: URL,
    options: MessageOptions,
    report: (line: string) => void,
  ) {
    this.#url = url;
    this.#options = options;
    this.#report = report;
  }

  /** Posts an event until it is taken or refused, or until the signal. The reason is a line that names the event and the address. */
  async post(event: StoredEvent, stop: AbortSignal): Promise<Delivery> {
    const name = `Event ${String(BigInt(event.sequence))}`;
    const message = messageOf(event, this.#options);
    const delivery = await deliver(
      message,
      (question) => this.#client.send(this.#url, question),
      stop,
      (problem) => {
        this.#report(`${name} was not taken by ${this.name}: ${problem}`);
      },
    );
    switch (delivery.outcome) {
      case 'refused':
        return { ...delivery, reason: `${name} was refused by ${this.name}: ${delivery.reason}` };
      case 'redirected': {
        const advice = 'Redirects are not followed: give --forward the new address.';
        return { ...delivery, reason: `${name} was redirected by ${this.name}: ${delivery.reason}. ${advice}` };
      }
      default:
        return delivery;
    }
  }

  close(): void {
    this.#client.close();
  }
}
