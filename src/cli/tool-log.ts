import { readFile } from 'node:fs/promises';
import { ProcessConfig } from '../config/process-config';
import type { EventLogLocation } from '../log/engines';
import type { EventLog } from '../log/event-log';
import type { ReadableLog } from '../log/readable-log';
import { fileError, misuse, stopSignal, UsageError } from './terminal';

/** The log that a command reads: by default the one that EVENT_LOG names. */
export interface LogSource {
  /** The address of a service that has it. */
  readonly from?: URL;
  /** A file with a read key of that service; by default WEBHOOK_READ_KEY has it. */
  readonly keyFile?: string;
  /** A file with authorities in PEM that are trusted, too. */
  readonly ca?: string;
}

/** @throws {UsageError} no other process can have the log that EVENT_LOG names. */
export function eventLogOfTool(): EventLogLocation {
  const { eventLog } = ProcessConfig.ofTool('eventLog');
  if (!eventLog.isVolatile) return eventLog;
  throw new UsageError('EVENT_LOG=memory: is a log that only its service has. Set EVENT_LOG to another one.');
}

/** Works on the log of a service elsewhere, or on the one that EVENT_LOG names. SIGINT or SIGTERM ends it. */
export async function withSource(
  { from: url, keyFile, ca }: LogSource,
  work: (log: ReadableLog, stop: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const stop = stopSignal();
  if (url === undefined) {
    if (keyFile !== undefined || ca !== undefined) throw misuse('--key-file and --ca go with --from.');
    return withLog('read', (log) => work(log, stop));
  }
  const key = keyFile === undefined ? ProcessConfig.readKey() : (await textOf(keyFile)).trim();
  const { RemoteLog } = await import('./remote/remote-log.js');
  await work(new RemoteLog({ url, key, ca: ca === undefined ? undefined : await textOf(ca) }, stop), stop);
}

/** Opens the log that EVENT_LOG names, and closes it however the work on it ends; `import` makes one if there is none. */
export async function withLog(access: 'read' | 'import', work: (log: EventLog) => Promise<unknown>): Promise<void> {
  const eventLog = eventLogOfTool();
  const log = await openLog(access, eventLog);
  log.observe({
    lost(problem) {
      console.error(`A file of the event log was lost: ${problem}`);
    },
  });
  try {
    await work(log);
  } finally {
    await log.close();
  }
}

function openLog(access: 'read' | 'import', eventLog: EventLogLocation): Promise<EventLog> {
  const { eventLogServer } = ProcessConfig.ofTool('eventLogServer');
  if (access === 'read') return eventLog.open({ ...eventLogServer, retention: {}, create: false });
  // Retention would forget imported events meanwhile, and the next import record them again.
  return eventLog.open({ ...eventLogServer, ...ProcessConfig.ofTool('retention'), forgets: false });
}

/** Reads a file that an option names. */
export function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw fileError(file, 'read', error);
  });
}
