import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { Remote } from '../../util/remote';
import type { EventQuery, LogStats, ScanQuery, SearchQuery } from '../log-reader';
import { withoutPath } from './binding';
import { SqliteConnection } from './connection';
import { LostFileError } from './files/database-files';
import type { SqliteOptions } from './options';
import { ReadOnlyConnection, type ReadableConnection } from './read-only';
import { SqliteReader } from './reader';
import { SqliteRecorder, type RecordedEvents } from './recorder';
import { SqliteSearch } from './search';
import { FreePages, PAGE_BYTES, SqliteRetention } from './upkeep/retention';
import { backUp, verify } from './upkeep/verification';

/** Most pages that one step of a compaction gives back: only writes wait for it. */
const COMPACTION_PAGES = 256;

/** The operations of the thread; those that `Engine` has too do the same. */
export type Operations = ReturnType<typeof openOperations>;

/**
 * Opens a database. Each operation takes one argument, or none.
 *
 * @throws the database cannot be opened, is not a database, or not one of this program and version.
 */
function openOperations(options: SqliteOptions) {
  const connection = new SqliteConnection(options);
  const recorder = new SqliteRecorder(connection);
  const freePages = new FreePages(connection);
  const retention = options.retention && new SqliteRetention(connection, options.retention, recorder);
  return {
    ...readings(connection),
    append: (batch: Uint8Array) => recorder.append([batch])[0] as RecordedEvents,
    check: () => {
      recorder.check();
    },
    backup: (file: string) => {
      connection.reading(() => {
        backUp(connection, file);
      });
    },
    /** Returns the positions that had an event. */
    forget: (positions: readonly number[]) => connection.transaction(() => recorder.delete(positions)),
    vacuum: () => {
      connection.vacuum();
    },
    /** As `FreePages.bytes`. */
    freeBytes: () => connection.reading(() => freePages.bytes()),
    /** Gives some free pages back and returns their bytes; 0 once nothing is left. */
    giveBack: () => freePages.giveBack(0, COMPACTION_PAGES) * PAGE_BYTES,
    emptyWal: () => connection.emptyWal(),
    requireFiles: () => {
      connection.files.require();
    },
    saveLost: () => connection.saveLost((saved, batches) => new SqliteRecorder(saved).append(batches)),
    retain: () => retention?.step() ?? false,
    close: () => {
      connection.close();
    },
  };
}

/** The operations that only read. */
function readings(connection: ReadableConnection) {
  const reader = new SqliteReader(connection);
  const search = new SqliteSearch(connection, reader);
  const stats = (): LogStats => ({ events: reader.count(), bytes: connection.files.bytes(), last: reader.last() });
  return {
    read: (query: EventQuery) => connection.snapshot(() => reader.read(query)),
    scan: (query: ScanQuery) => connection.snapshot(() => reader.scan(query)),
    newest: () => connection.reading(() => reader.newest()),
    stats: () => connection.reading(stats),
    search: (query: SearchQuery) => connection.snapshot(() => search.search(query)),
    counts: (times: readonly number[]) => connection.snapshot(() => reader.counts(times)),
    verify: () => verify(connection),
  };
}

/** As {@link openOperations}, for a log that is only read. */
function openReadings(file: string): Operations {
  const connection = new ReadOnlyConnection(file);
  const refuse = (): never => {
    throw new Error('the event log was opened for reading only');
  };
  return {
    ...readings(connection),
    ...{ append: refuse, check: refuse, backup: refuse, forget: refuse, vacuum: refuse, freeBytes: refuse },
    ...{ giveBack: refuse, emptyWal: refuse, retain: refuse },
    requireFiles: () => {
      connection.requireFiles();
    },
    saveLost: () => undefined,
    close: () => {
      connection.close();
    },
  };
}

/** The functions of the thread; before `open` it has no others. */
export interface ThreadFunctions extends Operations {
  /** Opens the database. @throws as {@link openOperations}. */
  open(): void;
}

/** What the thread tells its owner. */
export interface OwnerFunctions {
  /** The file was lost: the thread answers nothing more. `saved` says what became of events that no other place has. */
  lost(loss: { readonly reason: string; readonly saved: string | undefined }): void;
  /** The file was lost, and what no other place has cannot be saved yet. The thread tries again. */
  unsaved(problem: string): void;
}

/** How often a thread looks whether its files are still those at their paths, in milliseconds. */
const LOOK_PAUSE = 100;

/** Pause after events of a lost file could not be saved, in milliseconds. */
const SAVE_PAUSE = 500;

/** Why a file is lost, and why what only it held is not saved yet. */
interface Loss {
  readonly reason: string;
  problem?: string;
}

/** The thread: one database, asked over a port. */
class DatabaseWorker {
  readonly #owner: Remote<OwnerFunctions>;
  #operations: Operations | undefined;
  /** Before a file is lost, the looks; afterwards, the next try to save what only it held. */
  #timer: NodeJS.Timeout | undefined;
  #lost: Loss | undefined;
  #isClosing = false;

  constructor(port: MessagePort, options: SqliteOptions) {
    this.#owner = new Remote((message) => {
      port.postMessage(message);
    }, withoutPath);
    port.on('message', (message) => {
      this.#owner.receive(message);
    });
    this.#owner.serve({
      open: () => {
        this.#open(options);
      },
    });
  }

  #open(options: SqliteOptions): void {
    const operations = options.readOnly ? openReadings(options.file) : openOperations(options);
    this.#operations = operations;
    const names = Object.keys(operations) as (keyof Operations)[];
    const perform = (name: keyof Operations) => (argument: unknown) => this.#perform(operations, name, argument);
    this.#owner.serve(Object.fromEntries(names.map((name) => [name, perform(name)])));
    // Others may wait until this thread has let go of files that are not at their paths any more.
    this.#timer = setInterval(() => {
      try {
        operations.requireFiles();
      } catch (error) {
        // Where the look itself fails, calls say why.
        this.#loseFile(error);
      }
    }, LOOK_PAUSE);
  }

  #perform(operations: Operations, name: keyof Operations, argument: unknown): unknown {
    if (name === 'close') this.#isClosing = true;
    if (this.#lost !== undefined) {
      if (this.#isClosing) this.#save(this.#lost);
      throw new Error(described(this.#lost));
    }
    if (this.#isClosing) clearInterval(this.#timer);
    try {
      return (operations[name] as (argument: unknown) => unknown)(argument);
    } catch (error) {
      this.#loseFile(error);
      throw error;
    }
  }

  /** Once a file is lost, the thread saves what no other place has, and does nothing else. */
  #loseFile(error: unknown): void {
    if (!(error instanceof LostFileError)) return;
    clearInterval(this.#timer);
    this.#lost = { reason: error.message };
    this.#save(this.#lost);
  }

  /** Tries until it goes well, or this thread is closed. The parent then ends it. */
  #save(lost: Loss): void {
    clearTimeout(this.#timer);
    let saved: string | undefined;
    try {
      saved = this.#operations?.saveLost();
    } catch (error) {
      const isNew = lost.problem === undefined;
      lost.problem = `Events that only its write-ahead log held could not be saved: ${withoutPath(error)}`;
      if (!this.#isClosing) {
        if (isNew) this.#owner.tell('unsaved', described(lost));
        this.#timer = setTimeout(() => {
          this.#save(lost);
        }, SAVE_PAUSE);
        return;
      }
      saved = lost.problem;
    }
    this.#owner.tell('lost', { reason: lost.reason, saved });
  }
}

function described({ reason, problem }: Loss): string {
  return problem === undefined ? reason : `${reason}. ${problem}`;
}

if (parentPort === null)
  throw new Error('This file is not a program of its own; `DatabaseThread` starts it as a thread.');
new DatabaseWorker(parentPort, workerData as SqliteOptions);
