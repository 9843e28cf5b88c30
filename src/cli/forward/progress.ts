import { setTimeout } from 'node:timers/promises';
import type { StoredEvent } from '../../events/stored-event';
import { eventLine } from '../terminal';

/** Reports forwarding on standard error, in lines. On a terminal there is a line for each event. */
export class ForwardProgress {
  readonly isTerminal = process.stderr.isTTY;
  #delivered = 0;
  #skipped = 0;

  report(line: string): void {
    console.error(line);
  }

  /** Prints what was done. */
  end(): void {
    const skipped = this.#skipped === 0 ? '' : `, ${String(this.#skipped)} passed over`;
    this.report(`${String(this.#delivered)} ${this.#delivered === 1 ? 'event' : 'events'} forwarded${skipped}.`);
  }

  /** Counts an event that was delivered; on a terminal it prints the event and the answer. */
  delivered(event: StoredEvent, answer: string): void {
    this.#delivered++;
    if (this.isTerminal) this.report(`${eventLine(event)}  ${answer}`);
  }

  /** Counts an event that was passed over, and prints the reason. */
  skipped(reason: string): void {
    this.#skipped++;
    this.report(reason);
  }

  /** Says why an attempt failed, and waits for the next one: for a time, on a terminal for Enter, or for the signal. */
  async again(problem: string, pause: number, stop: AbortSignal): Promise<void> {
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
