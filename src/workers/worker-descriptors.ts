import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { hasWriterProtocol } from '../config/writer-protocol';
import { WRITER_PROTOCOL } from '../log/open-event-log';

/** The descriptor at which a worker finds its pipe to the process that writes for all. */
export const WRITER_DESCRIPTOR = 4;

/**
 * What a worker's descriptors are, in their order: the standard ones; a socket of the service manager, which has its place in a
 * standard of its own (sd_listen_fds); the pipe to the writer; and the channel of `node:cluster`.
 *
 * @param inherited - the descriptor of the socket in this process.
 */
export function workerDescriptors(inherited: number | undefined, hasWriter: boolean): (string | number)[] {
  // `overlapped` is what Windows needs for a pipe in both directions.
  return ['inherit', 'inherit', 'inherit', inherited ?? 'ignore', hasWriter ? 'overlapped' : 'ignore', 'ipc'];
}

/**
 * The pipe of this worker. Undefined: it has none, or its supervisor, which stays when the workers are replaced by those of a
 * new build, speaks another version of the protocol; then the worker writes to the log itself.
 */
export function writerPipe(): Duplex | undefined {
  return hasWriterProtocol(WRITER_PROTOCOL) ? new Socket({ fd: WRITER_DESCRIPTOR }) : undefined;
}
