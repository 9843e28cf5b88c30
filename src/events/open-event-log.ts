import { existsSync } from 'node:fs';
import type { EventLogLocation } from '../config/event-log-location';
import { EventLogError, type EventLog, type Retention } from './event-log';

/** What the engines need to know besides the location. */
export interface EventLogSettings {
  /** The longest that a call waits for a NATS cluster, in milliseconds. */
  readonly timeout: number;
  readonly retention: Retention;
  /** The source of the service's own events. */
  readonly source: string;
}

/**
 * Opens the event log at a location, and creates it where it is missing.
 *
 * @throws {EventLogError} it cannot be opened; the message names the location, but never a password.
 */
export async function openEventLog(location: EventLogLocation, settings: EventLogSettings): Promise<EventLog> {
  if (location.engine === 'jetstream') {
    const { JetStreamEventLog } = await loadJetStream();
    return JetStreamEventLog.open({ ...location, ...settings, create: true });
  }
  const { retention } = settings;
  const forgets = retention.maxEvents !== undefined || retention.maxAge !== undefined;
  const { SqliteEventLog } = await loadSqlite();
  return SqliteEventLog.open({ file: location.file, ...(forgets ? { retention } : {}) });
}

/**
 * Opens the event log at a location for the operator's tools: a mistyped name does not create an empty log, and nothing is
 * forgotten.
 *
 * @throws {EventLogError} it does not exist, or cannot be opened.
 */
export async function openExistingEventLog(location: EventLogLocation, settings: EventLogSettings): Promise<EventLog> {
  if (location.engine === 'jetstream') {
    const { JetStreamEventLog } = await loadJetStream();
    return JetStreamEventLog.open({ ...location, ...settings, create: false });
  }
  const { file } = location;
  if (!existsSync(file)) throw new EventLogError(`There is no event log at ${file}. Set EVENT_LOG to where it is.`);
  const { SqliteEventLog } = await loadSqlite();
  return SqliteEventLog.open({ file });
}

// Only the engine that is used is loaded.
const loadJetStream = () => import('./jetstream/event-log.js');
const loadSqlite = () => import('./sqlite/event-log.js');
