import type { NewEvent, StoredEvent } from '../../events/stored-event';
import { paddedSequence } from '../page';
import type { SqlValue } from './binding';

/** What is worked out about an event when it is recorded. */
interface Derived {
  readonly headBytes: number;
  readonly dataBytes: number;
}

/** What a row holds of an event besides its `sequence`. */
export type Property = keyof NewEvent | keyof Derived;

/**
 * The columns by the property that each one holds, and their types; everything else in this file follows from it. Columns
 * that may be large come last, so that reading the others loads none of them.
 */
const COLUMNS: Readonly<Record<Property, string>> = {
  recordedAt: 'INTEGER NOT NULL',
  id: 'TEXT NOT NULL',
  source: 'TEXT NOT NULL',
  idempotencyKey: 'TEXT',
  webhookId: 'TEXT',
  headBytes: 'INTEGER NOT NULL',
  dataBytes: 'INTEGER NOT NULL',
  attributes: 'TEXT NOT NULL',
  arrival: 'TEXT NOT NULL',
  data: 'TEXT',
};

/** What no two events have in common, as far as they have it. */
const UNIQUE_KEYS: readonly (readonly (keyof NewEvent)[])[] = [['id', 'source'], ['idempotencyKey'], ['webhookId']];

/** What {@link INSERT_EVENT} takes, in its order. */
export const PROPERTIES = Object.keys(COLUMNS) as Property[];

/** Puts values in the order of {@link PROPERTIES}. Written out, since a loop over the names takes longer. */
export function rowOf(values: Readonly<Record<Property, SqlValue>>): SqlValue[] {
  const { recordedAt, id, source, idempotencyKey, webhookId, headBytes, dataBytes, attributes, arrival, data } = values;
  return [recordedAt, id, source, idempotencyKey, webhookId, headBytes, dataBytes, attributes, arrival, data];
}

const EVENT_PROPERTIES = PROPERTIES.filter((property) => !isDerived(property));
/** What {@link FIND_FIRST_ID} takes, in its order. */
export const KEY_PROPERTIES = UNIQUE_KEYS.flat();

/** Makes the table `events` and its indexes. */
export const CREATE_EVENTS = `
  CREATE TABLE events (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    ${PROPERTIES.map((property) => `${column(property)} ${COLUMNS[property]}`).join(',\n    ')}
  ) STRICT;
  ${UNIQUE_KEYS.map(uniqueIndex).join('\n  ')}
`;

/** Inserts an event, or nothing where an event with one of its keys is there. Takes texts as bytes in UTF-8. */
export const INSERT_EVENT = `
  INSERT INTO events (${PROPERTIES.map(column).join(', ')})
  VALUES (${PROPERTIES.map(placeholder).join(', ')}) ON CONFLICT DO NOTHING`;

/** Finds the `id` of the first event that has one of the keys of another. Takes texts as bytes in UTF-8. */
export const FIND_FIRST_ID = `
  SELECT id FROM events
  WHERE ${UNIQUE_KEYS.map((key) => `(${key.map((property) => `${column(property)} = ${placeholder(property)}`).join(' AND ')})`).join(' OR ')}
  ORDER BY sequence LIMIT 1`;

/** The columns of all texts, as the bytes that stand in the file. */
export const TEXTS_AS_BYTES = PROPERTIES.filter((property) => COLUMNS[property].startsWith('TEXT'))
  .map((property) => `CAST(${column(property)} AS BLOB) AS ${column(property)}`)
  .join(', ');

/** The columns of a {@link StoredRow}. */
export const STORED_COLUMNS = ['sequence', ...EVENT_PROPERTIES.map((name) => `${column(name)} AS "${name}"`)].join(
  ', ',
);

/** A row that was read with {@link STORED_COLUMNS}. */
export type StoredRow = { readonly sequence: number } & Readonly<Record<keyof NewEvent, SqlValue>>;

/** The event in a row. */
export function storedEvent(row: StoredRow): StoredEvent {
  const properties = EVENT_PROPERTIES.map((property) => [property, row[property] ?? undefined]);
  return { ...(Object.fromEntries(properties) as NewEvent), sequence: paddedSequence(row.sequence) };
}

function isDerived(property: Property): property is keyof Derived {
  return property === 'headBytes' || property === 'dataBytes';
}

function uniqueIndex(key: readonly Property[]): string {
  const columns = key.map(column);
  const optional = key.filter((property) => !COLUMNS[property].includes('NOT NULL')).map(column);
  const where = optional.map((name) => `${name} IS NOT NULL`).join(' AND ');
  return `CREATE UNIQUE INDEX events_${columns[0] ?? ''} ON events (${columns.join(', ')})${where && ` WHERE ${where}`};`;
}

function placeholder(property: Property): string {
  return COLUMNS[property].startsWith('TEXT') ? 'CAST(? AS TEXT)' : '?';
}

function column(property: Property): string {
  return property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
