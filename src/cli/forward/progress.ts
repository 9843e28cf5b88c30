import type { StoredEvent } from '../../events/stored-event';
import type { ReadableLog } from '../../log/readable-log';
import { eventLine } from '../terminal';

/** Reports forwarding on standard error, in lines, and counts it. On a terminal there is a line for each event. */
export class ForwardProgress {
  /** The attempts so far, by their outcome; after one that failed there is another. */
  readonly attempts = { delivered: 0, failed: 0, refused: 0, redirected: 0 };
  /** The position up to which events were forwarded or passed over; undefined for selected events. */
  position: number | undefined;
  /** When an attempt did not deliver its event last, in milliseconds since 1970-01-01T00:00Z. */
  lastErrorAt: number | undefined;
  /** Why the target does not get its next event; a line that names both. */
  problem: string | undefined;
  #skipped = 0;
  #log: Pick<ReadableLog, 'stats' | 'scan'> | undefined;
  #counting: Promise<number | undefined> | undefined;

  /** @param name - that of the target in messages. */
  constructor(readonly name: string) {}

  report(line: string): void {
    console.error(line);
  }

  /** Begins after a position of a log. */
  begin(log: Pick<ReadableLog, 'stats' | 'scan'>, position: number): void {
    this.#log = log;
    this.position = position;
  }

  /** Prints what was done. */
  end(): void {
    const { delivered } = this.attempts;
    const skipped = this.#skipped === 0 ? '' : `, ${String(this.#skipped)} passed over`;
    console.error(`${String(delivered)} ${delivered === 1 ? 'event' : 'events'} forwarded${skipped}.`);
  }

  /** Counts an event that the target took; on a terminal it prints the event and the answer. */
  delivered(event: StoredEvent, answer: string): void {
    this.attempts.delivered++;
    this.problem = undefined;
    if (process.stderr.isTTY) this.report(`${eventLine(event)}  ${answer}`);
  }

  /** Counts any other attempt. */
  undelivered(outcome: 'failed' | 'refused' | 'redirected', problem: string): void {
    this.attempts[outcome]++;
    this.problem = problem;
    this.lastErrorAt = Date.now();
  }

  /** Counts an event that was passed over, and prints the reason. */
  skipped(reason: string): void {
    this.#skipped++;
    this.problem = undefined;
    this.report(reason);
  }

  /** Counts the events after the position. Callers meanwhile get the same answer: a service elsewhere may be away for long. */
  behind(): Promise<number | undefined> {
    this.#counting ??= this.#count().finally(() => (this.#counting = undefined));
    return this.#counting;
  }

  async #count(): Promise<number | undefined> {
    if (this.#log === undefined || this.position === undefined) return undefined;
    const { last } = await this.#log.stats();
    // The last position may be that of a repetition or of a forgotten event.
    const isLeft = last > this.position && (await this.#log.scan({ after: this.position, limit: 1 })).length > 0;
    return isLeft ? Math.max(0, last - this.position) : 0;
  }
}
