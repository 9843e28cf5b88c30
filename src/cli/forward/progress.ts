import { setTimeout } from 'node:timers/promises';
import type { StoredEvent } from '../../events/stored-event';
import type { Delivery } from '../../forward/target';
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
  readonly isTerminal = process.stderr.isTTY;
  #skipped = 0;

  /** @param name - that of the target in messages. */
  constructor(readonly name: string) {}

  report(line: string): void {
    console.error(line);
  }

  /** Prints what was done. */
  end(): void {
    const { delivered } = this.attempts;
    const skipped = this.#skipped === 0 ? '' : `, ${String(this.#skipped)} passed over`;
    console.error(`${String(delivered)} ${delivered === 1 ? 'event' : 'events'} forwarded${skipped}.`);
  }

  /** Counts the last attempt for an event; on a terminal it prints an event that was delivered, and the answer. */
  attempted(event: StoredEvent, { outcome, text }: Delivery): void {
    if (outcome === 'damaged' || outcome === 'stopped') return;
    this.attempts[outcome]++;
    this.problem = outcome === 'delivered' ? undefined : text;
    if (outcome !== 'delivered') this.lastErrorAt = Date.now();
    else if (this.isTerminal) this.report(`${eventLine(event)}  ${text}`);
  }

  /** Counts an event that was passed over, and prints the reason. */
  skipped(reason: string): void {
    this.#skipped++;
    this.problem = undefined;
    this.report(reason);
  }

  /** Counts a failed attempt, says why it failed, and waits for the next one: for a time, on a terminal for Enter, or for the signal. */
  async again(problem: string, pause: number, stop: AbortSignal): Promise<void> {
    this.attempts.failed++;
    this.problem = problem;
    this.lastErrorAt = Date.now();
    const { stdin } = process;
    const canAsk = this.isTerminal && stdin.isTTY;
    this.report(`${problem} Trying again in ${(pause / 1000).toFixed(1)} s${canAsk ? ', or at once with Enter' : ''}.`);
    const enter = new AbortController();
    const wake = (): void => {
      enter.abort();
    };
    if (canAsk) stdin.once('data', wake).resume();
    await setTimeout(pause, undefined, { signal: AbortSignal.any([stop, enter.signal]) }).catch(() => undefined);
    if (canAsk) stdin.off('data', wake).pause();
  }
}
