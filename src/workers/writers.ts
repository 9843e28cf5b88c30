import type { SharedWriter } from '../log/open-event-log';
import type { WorkerProcess } from './worker-process';

/**
 * What writes to the event log for all workers. It is replaced together with them: those that start from then on have a new
 * one, which runs the code that they run, and the one before ends with the last worker that it serves.
 */
export class Writers {
  readonly #make: () => SharedWriter;
  readonly #closeFailed: (error: unknown) => void;
  #current: SharedWriter;

  /** @param closeFailed - hears why a log could not be closed; what was recorded is on disk all the same. */
  constructor(make: () => SharedWriter, closeFailed: (error: unknown) => void) {
    this.#make = make;
    this.#closeFailed = closeFailed;
    this.#current = make();
  }

  /** Resolves once the log is open. @throws {EventLogError} it cannot be opened. */
  start(): Promise<void> {
    return this.#current.start();
  }

  /** Writes what a worker records from now on. */
  add({ writerPipe }: WorkerProcess): void {
    if (writerPipe !== undefined) this.#current.serve(writerPipe);
  }

  /** Has the workers that start from now on served by a new writer. */
  renew(): void {
    const old = this.#current;
    this.#current = this.#make();
    old.close().catch(this.#closeFailed);
  }

  /** Resolves once all workers have ended and the log is closed. Never rejects. */
  close(): Promise<void> {
    return this.#current.close().catch(this.#closeFailed);
  }
}
