import { parentPort, workerData } from 'node:worker_threads';
import { SqliteDatabase, type SqliteOptions } from './sqlite-database';

/** What the thread that answers requests asks of this one. `call` numbers the question. */
export type WorkerCall = { readonly call: number } & {
  [Operation in 'append' | 'read' | 'close']: {
    readonly operation: Operation;
    readonly argument: Parameters<SqliteDatabase[Operation]>[0];
  };
}['append' | 'read' | 'close'];

/** The answer to the question of the same number. The opening of the database answers question 0. */
export type WorkerReply = { readonly call: number } & ({ readonly result: unknown } | { readonly failure: string });

const port = parentPort;
if (port === null) throw new Error('sqlite-worker is no program of its own; SqliteEventLog starts it');

const answer = (call: number, action: () => unknown): void => {
  try {
    port.postMessage({ call, result: action() } satisfies WorkerReply);
  } catch (error) {
    port.postMessage({ call, failure: (error as Error).message } satisfies WorkerReply);
  }
};

let database: SqliteDatabase | undefined;
answer(0, () => {
  database = new SqliteDatabase(workerData as SqliteOptions);
});

port.on('message', ({ call, operation, argument }: WorkerCall) => {
  answer(call, () => {
    if (database === undefined) throw new Error('the database is not open');
    switch (operation) {
      case 'append':
        return database.append(argument);
      case 'read':
        return database.read(argument);
      case 'close':
        database.close();
        return undefined;
    }
  });
});
