import { stat } from 'node:fs/promises';
import type { EventLogLocation } from '../event-log-location';
import { EventLogError, type EventLog, type Retention } from './event-log';
import { JetStreamEventLog } from './jetstream-event-log';
import { SqliteEventLog } from './sqlite-event-log';

/** What the engines are told beside the place. */
export interface EventLogSettings {
  /** The longest that a call waits for a NATS cluster, in milliseconds. */
  readonly timeout: number;
  readonly retention: Retention;
  /** The source of the service's own events. */
  readonly source: string;
}

/**
 * Opens the event log at a place, and makes it where it is missing.
 *
 * @throws {EventLogError} it cannot be opened; the message names the place, and never a password.
 */
export function openEventLog(location: EventLogLocation, settings: EventLogSettings): Promise<EventLog> {
  if (location.engine === 'jetstream') return JetStreamEventLog.open({ ...location, ...settings, create: true });
  const { retention } = settings;
  const forgets = retention.maxEvents !== undefined || retention.maxAge !== undefined;
  return SqliteEventLog.open({ file: location.file, ...(forgets ? { retention } : {}) });
}

/**
 * Opens the event log at a place to look at it: a mistyped name must not make an empty one, and nothing is forgotten.
 *
 * @throws {EventLogError} it is not there, or cannot be opened.
 */
export async function openExistingEventLog(location: EventLogLocation, settings: EventLogSettings): Promise<EventLog> {
  if (location.engine === 'jetstream') {
    return JetStreamEventLog.open({ ...location, ...settings, create: false });
  }
  const { file } = location;
  try {
    await stat(file);
  } catch (cause) {
    throw new EventLogError(`There is no event log at ${file}; EVENT_LOG says where it is.`, { cause });
  }
  return SqliteEventLog.open({ file });
}
