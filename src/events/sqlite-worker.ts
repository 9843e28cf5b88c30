import { parentPort, workerData } from 'node:worker_threads';
import { LostFileError, SqliteDatabase, type SqliteOptions } from './sqlite-database';
import type { SqliteReader } from './sqlite-reader';

type Operations = 'append' | 'read' | 'scan' | 'positionBefore' | 'count' | 'bytes' | 'check' | 'backup' | 'close';

/** What the thread that answers requests asks of this one. `call` numbers the question. */
export type WorkerCall = { readonly call: number } & {
  [Operation in Operations]: {
    readonly operation: Operation;
    readonly argument: Parameters<(SqliteDatabase & SqliteReader)[Operation]>[0];
  };
}[Operations];

/** The answer to the question of the same number. The opening of the database answers question 0. */
export type WorkerReply = { readonly call: number } & (
  | { readonly result: unknown }
  /** `ended`: the thread takes no further questions. */
  | { readonly failure: string; readonly ended: boolean }
);

const port = parentPort;
if (port === null) throw new Error('sqlite-worker is no program of its own; SqliteEventLog starts it');

const answer = (call: number, action: () => unknown): void => {
  try {
    port.postMessage({ call, result: action() } satisfies WorkerReply);
  } catch (error) {
    const ended = error instanceof LostFileError;
    port.postMessage({ call, failure: (error as Error).message, ended } satisfies WorkerReply);
    if (ended) end();
  }
};

let database: SqliteDatabase | undefined;

/** Ends the thread: the next question is asked of a new one, which opens what is then at the place of the file. */
function end(): void {
  database?.close();
  process.exit();
}

answer(0, () => {
  database = new SqliteDatabase(workerData as SqliteOptions);
});

/** Pause between two steps of retention while there is more to do, and otherwise, in milliseconds. */
const BUSY_PAUSE = 2;
const IDLE_PAUSE = 1000;

let retention: NodeJS.Timeout | undefined;

function retain(): void {
  let more = false;
  try {
    more = database?.retain() ?? false;
  } catch {
    // The disk is full or the database is locked: writes say so; here it is tried again after the pause.
  }
  retention = setTimeout(retain, more ? BUSY_PAUSE : IDLE_PAUSE);
}

if ((workerData as SqliteOptions).retention !== undefined) retain();

port.on('message', ({ call, operation, argument }: WorkerCall) => {
  answer(call, () => {
    if (database === undefined) throw new Error('the database is not open');
    switch (operation) {
      case 'append':
        return database.append(argument);
      case 'read':
        return database.reader.read(argument);
      case 'scan':
        return database.reader.scan(argument);
      case 'positionBefore':
        return database.reader.positionBefore(argument);
      case 'count':
        return database.reader.count();
      case 'bytes':
        return database.bytes();
      case 'check':
        database.check();
        return undefined;
      case 'backup':
        database.backup(argument);
        return undefined;
      case 'close':
        clearTimeout(retention);
        database.close();
        return undefined;
    }
  });
});
