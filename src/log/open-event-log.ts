import { existsSync } from 'node:fs';
import type { EventLogLocation } from '../config/event-log-location';
import type { Channel } from './engine';
import { EventLogError, type EventLog, type Retention } from './event-log';
import type { SqliteSharedWriter } from './sqlite/shared-writer';

export { PROTOCOL as WRITER_PROTOCOL } from './sqlite/batch';

/** Settings of an event log besides its location. */
export interface EventLogSettings {
  /** The longest that a call waits for a NATS cluster, in milliseconds. */
  readonly timeout: number;
  readonly retention: Retention;
  /** Whether this process forgets what is past retention; by default it does. */
  readonly forgets?: boolean;
}

/**
 * Opens the event log at a location, and creates it if it is missing.
 *
 * @param channel - to a {@link sharedWriter}, which then writes what this process records.
 * @throws {EventLogError} it cannot be opened; the message names the location, but never a password.
 */
export async function openEventLog(
  location: EventLogLocation,
  settings: EventLogSettings,
  channel?: Channel,
): Promise<EventLog> {
  if (location.engine === 'jetstream') {
    const { openJetStreamLog } = await loadJetStream();
    return openJetStreamLog({ ...location, ...settings, create: true });
  }
  const { openSqliteLog, sqliteLogOfWriter } = await loadSqlite();
  if (channel !== undefined) return sqliteLogOfWriter(channel, location.file);
  return openSqliteLog(sqliteOptions(location, settings));
}

/** Returns the writer for several processes; undefined if each writes for itself, as with JetStream. */
export async function sharedWriter(
  location: EventLogLocation,
  settings: EventLogSettings,
): Promise<SqliteSharedWriter | undefined> {
  if (location.engine !== 'sqlite') return undefined;
  const { SqliteSharedWriter } = await import('./sqlite/shared-writer.js');
  return new SqliteSharedWriter(sqliteOptions(location, settings));
}

function sqliteOptions({ file }: { readonly file: string }, { retention, forgets = true }: EventLogSettings) {
  const isLimited = retention.maxEvents !== undefined || retention.maxAge !== undefined;
  return { file, ...(forgets && isLimited ? { retention } : {}) };
}

/**
 * Opens the event log at a location for the operator's tools: a mistyped name does not create an empty log, and nothing is
 * forgotten.
 *
 * @param access - `read`: nothing is written, not even beside the file of a log.
 * @throws {EventLogError} it does not exist, or cannot be opened.
 */
export async function openExistingEventLog(
  location: EventLogLocation,
  settings: EventLogSettings,
  access: 'read' | 'write',
): Promise<EventLog> {
  if (location.engine === 'jetstream') {
    const { openJetStreamLog } = await loadJetStream();
    return openJetStreamLog({ ...location, ...settings, create: false });
  }
  const { file } = location;
  if (!existsSync(file)) throw new EventLogError(`There is no event log at ${file}. Set EVENT_LOG to where it is.`);
  const { openSqliteLog } = await loadSqlite();
  return openSqliteLog({ file, readOnly: access === 'read' });
}

// Only the engine that is used is loaded.
const loadJetStream = () => import('./jetstream/event-log.js');
const loadSqlite = () => import('./sqlite/event-log.js');
