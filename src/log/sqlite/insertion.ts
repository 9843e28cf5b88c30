import { sizeFrom } from '../page';
import { wireBytesBetween } from '../../events/wire-bytes';
import type { PackedEvents, TextProperty } from './batch';
import type { SqlValue, Statement } from './binding';
import type { SqliteConnection } from './connection/connection';
import { FIND_FIRST_ID, INSERT_EVENT, KEY_PROPERTIES, PROPERTIES, type Property } from './table';

/** What came of recording a batch of events. */
export interface RecordedEvents {
  /** The first ids of those that were in the log before, by their places in the batch. */
  readonly firstIds: ReadonlyMap<number, string>;
  /** The position of the last one that was recorded; undefined: none was. */
  readonly newest: number | undefined;
}

/** Inserts batches of events into the table. */
export class SqliteInsertion {
  readonly #insert: Statement;
  readonly #findFirstId: Statement;

  constructor(connection: SqliteConnection) {
    this.#insert = connection.prepare(INSERT_EVENT);
    this.#findFirstId = connection.prepare(FIND_FIRST_ID);
  }

  /**
   * Inserts the events of a batch, but for those that are in the log.
   *
   * @param newestAt - when the most recent of the events before was recorded.
   */
  insert(events: PackedEvents, newestAt: number): RecordedEvents {
    const firstIds = new Map<number, string>();
    let newest: number | undefined;
    let latest = newestAt;
    for (let i = 0; i < events.count; i++) {
      const values = valuesOf(events, i, latest);
      const { changes, lastInsertRowid } = this.#insert.run(...PROPERTIES.map((property) => values[property]));
      if (changes === 0) {
        const { id } = this.#findFirstId.get(...KEY_PROPERTIES.map((property) => values[property])) as { id: string };
        firstIds.set(i, id);
        continue;
      }
      newest = Number(lastInsertRowid);
      latest = Math.max(latest, events.recordedAt(i));
    }
    return { firstIds, newest };
  }
}

/** The texts stay the bytes that they are in the batch. */
function valuesOf(events: PackedEvents, i: number, latest: number): Readonly<Record<Property, SqlValue>> {
  const recordedAt = events.recordedAt(i);
  const text = (name: TextProperty): Uint8Array | null => events.bytesOf(i, name) ?? null;
  return {
    id: text('id'),
    source: text('source'),
    attributes: text('attributes'),
    arrival: text('arrival'),
    data: text('data'),
    idempotencyKey: text('idempotencyKey'),
    webhookId: text('webhookId'),
    recordedAt,
    lateAt: recordedAt < latest ? recordedAt : null,
    ...sizeIn(events, i),
  };
}

function sizeIn(events: PackedEvents, i: number): ReturnType<typeof sizeFrom> {
  const wireBytesOf = (name: TextProperty): number => {
    const start = events.start(i, name);
    return wireBytesBetween(events.bytes, start, start + events.length(i, name));
  };
  return sizeFrom(wireBytesOf('attributes'), events.has(i, 'data') ? wireBytesOf('data') : undefined);
}
