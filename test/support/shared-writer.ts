import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { SqliteEventLog } from '../../src/log/sqlite/event-log';
import { SqliteSharedWriter } from '../../src/log/sqlite/shared/shared-writer';

async function socketPair(): Promise<[Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const one = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [other] = (await once(server, 'connection')) as [Socket];
  server.close();
  return [one, other];
}

/** A log that several processes write through one, as far as one process can show it. */
export interface SharedLog {
  /** Makes a pipe to the writer; returns the end that another process has. */
  pipe(): Promise<Socket>;
  /** Joins as another process does. */
  join(): Promise<SqliteEventLog>;
  /** Its own ends of the pipes, in their order. */
  readonly pipes: readonly Socket[];
  /** Closes the writer after those that joined have closed. */
  close(): Promise<void>;
}

export async function sharedLog(options: ConstructorParameters<typeof SqliteSharedWriter>[0]): Promise<SharedLog> {
  const writer = new SqliteSharedWriter(options);
  await writer.start();
  const pipes: Socket[] = [];
  const newPipe = async (): Promise<Socket> => {
    const [own, theirs] = await socketPair();
    pipes.push(theirs);
    writer.serve(theirs);
    return own;
  };
  return {
    pipe: newPipe,
    join: async () => SqliteEventLog.withWriter(await newPipe(), { file: options.file }),
    pipes,
    close: () => writer.close(),
  };
}
