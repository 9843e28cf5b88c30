import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { openSqliteLog, sqliteLogOfWriter } from '../../src/log/sqlite/event-log';
import type { Writer } from '../../src/log/engine';
import type { FileLog } from '../../src/log/event-log';
import type { SqliteOptions } from '../../src/log/sqlite/options';
import { Remote } from '../../src/util/remote';
import type { SupervisorFunctions } from '../../src/workers/protocol';
import { reasonOf } from '../../src/workers/worker-process';
import { writerFor, writerOf } from '../../src/workers/writer';

/** A log that several processes write through one, as far as one process can show it. */
export interface SharedLog {
  /** Returns the writer as another process has it. */
  writer(): Writer;
  /** Joins as another process does. */
  join(): FileLog;
  /** Ends the connection of the n-th that joined, as the death of a process does. */
  lose(n: number): void;
  /** Closes the writer, after those that joined have closed. */
  close(): Promise<void>;
}

export async function sharedLog(options: SqliteOptions): Promise<SharedLog> {
  const log = await openSqliteLog(options);
  const ports: MessagePort[] = [];
  const writer = (): Writer => {
    const { port1, port2 } = new MessageChannel();
    ports.push(port1);
    const gone = new Promise<void>((resolve) => port2.once('close', resolve));
    remoteAt(port2).serve(writerFor(log, gone));
    return writerOf(remoteAt(port1));
  };
  return {
    writer,
    join: () => sqliteLogOfWriter(options.file, writer()),
    lose: (n) => ports[n]?.close(),
    close() {
      for (const port of ports) port.close();
      return log.close();
    },
  };
}

function remoteAt(port: MessagePort): Remote<SupervisorFunctions> {
  const remote = new Remote<SupervisorFunctions>((message) => {
    port.postMessage(message);
  }, reasonOf);
  port.on('message', (message) => {
    remote.receive(message);
  });
  port.once('close', () => {
    remote.end(new Error('the process that writes has ended'));
  });
  return remote;
}
