import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import type { EventQuery, LogStats, ScanQuery, SearchQuery } from '../event-log';
import { withoutPath } from './binding';
import { SqliteConnection } from './connection';
import { LostFileError } from './files/database-files';
import type { SqliteOptions } from './options';
import { ReadOnlyConnection, type ReadableConnection } from './read-only';
import { SqliteReader } from './reader';
import { SqliteRecorder } from './recorder';
import { SqliteSearch } from './search';
import { FreePages, PAGE_BYTES, SqliteRetention } from './upkeep/retention';
import { backUp, verify } from './upkeep/verification';

/** How long a step of a compaction should take, in milliseconds: only writes wait for it. */
const COMPACTION_STEP = 20;

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
  const freePages = new FreePages(connection, COMPACTION_STEP);
  const retention = options.retention && new SqliteRetention(connection, options.retention, recorder);
  return {
    ...readings(connection),
    append: (batches: readonly Uint8Array[]) => recorder.append(batches),
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
    giveBack: () => freePages.giveBack(0) * PAGE_BYTES,
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

/** A question to the database thread; `call` numbers it. */
export interface WorkerCall {
  readonly call: number;
  readonly operation: keyof Operations;
  readonly argument: unknown;
}

/** The answer to the question of the same number. */
export type Reply =
  { readonly call: number; readonly result: unknown } | { readonly call: number; readonly failure: string };

/** The answer to a question; the opening of the database answers question 0. */
export type WorkerReply =
  | Reply
  /** The file was lost: the thread answers nothing more. `saved` says what became of events that no other place has. */
  | { readonly lost: string; readonly saved: string | undefined }
  /** The file was lost, and what no other place has cannot be saved yet. The thread tries again. */
  | { readonly unsaved: string };

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
  readonly #port: MessagePort;
  #operations: Operations | undefined;
  /** Before a file is lost, the looks; afterwards, the next try to save what only it held. */
  #timer: NodeJS.Timeout | undefined;
  #lost: Loss | undefined;
  #isClosing = false;

  constructor(port: MessagePort, options: SqliteOptions) {
    this.#port = port;
    port.on('message', ({ call, operation, argument }: WorkerCall) => {
      this.#answer(call, () => this.#perform(operation, argument));
    });
    this.#answer(0, () => {
      this.#operations = options.readOnly ? openReadings(options.file) : openOperations(options);
    });
    if (this.#operations === undefined) return;
    // Others may wait until this thread has let go of files that are not at their paths any more.
    this.#timer = setInterval(() => {
      try {
        this.#operations?.requireFiles();
      } catch (error) {
        // Where the look itself fails, calls say why.
        this.#loseFile(error);
      }
    }, LOOK_PAUSE);
  }

  #perform(operation: keyof Operations, argument: unknown): unknown {
    if (operation === 'close') this.#isClosing = true;
    if (this.#lost !== undefined) {
      if (this.#isClosing) this.#save(this.#lost);
      throw new Error(described(this.#lost));
    }
    if (this.#operations === undefined) throw new Error('the database is not open');
    if (this.#isClosing) clearInterval(this.#timer);
    return (this.#operations[operation] as (argument: unknown) => unknown)(argument);
  }

  #answer(call: number, action: () => unknown): void {
    try {
      this.#port.postMessage({ call, result: action() } satisfies WorkerReply);
    } catch (error) {
      this.#loseFile(error);
      this.#port.postMessage({ call, failure: withoutPath(error) } satisfies WorkerReply);
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
        if (isNew) this.#port.postMessage({ unsaved: described(lost) } satisfies WorkerReply);
        this.#timer = setTimeout(() => {
          this.#save(lost);
        }, SAVE_PAUSE);
        return;
      }
      saved = lost.problem;
    }
    this.#port.postMessage({ lost: lost.reason, saved } satisfies WorkerReply);
  }
}

function described({ reason, problem }: Loss): string {
  return problem === undefined ? reason : `${reason}. ${problem}`;
}

if (parentPort === null)
  throw new Error('This file is not a program of its own; `DatabaseThread` starts it as a thread.');
new DatabaseWorker(parentPort, workerData as SqliteOptions);
