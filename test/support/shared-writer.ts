import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Channel } from '../../src/log/engine';
import { sqliteLogOfWriter } from '../../src/log/sqlite/event-log';
import type { FileLog } from '../../src/log/event-log';
import { SqliteSharedWriter } from '../../src/log/sqlite/shared-writer';

/** A log that several processes write through one, as far as one process can show it. */
export interface SharedLog {
  /** Makes a channel to the writer; returns the end that another process has. */
  channel(): Channel;
  /** Joins as another process does. */
  join(): FileLog;
  /** Ends the channel of the n-th that joined, as the death of a process does. */
  lose(n: number): void;
  /** Closes the writer, after those that joined have closed. */
  close(): Promise<void>;
}

export async function sharedLog(options: ConstructorParameters<typeof SqliteSharedWriter>[0]): Promise<SharedLog> {
  const writer = new SqliteSharedWriter(options);
  await writer.start();
  const ports: MessagePort[] = [];
  const channel = (): Channel => {
    const { port1, port2 } = new MessageChannel();
    ports.push(port1);
    writer.serve(channelOf(port2));
    return channelOf(port1);
  };
  return {
    channel,
    join: () => sqliteLogOfWriter(channel(), options.file),
    lose: (n) => ports[n]?.close(),
    close() {
      for (const port of ports) port.close();
      return writer.close();
    },
  };
}

function channelOf(port: MessagePort): Channel {
  return {
    send(message, sent) {
      port.postMessage(message);
      sent?.();
    },
    onMessage: (listener) => void port.on('message', listener),
    onClose: (listener) => void port.once('close', listener),
  };
}
