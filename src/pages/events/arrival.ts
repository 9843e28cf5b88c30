import type { StoredEvent } from '../../events/stored-event';

/** How an event arrived, as far as the log has kept it; an imported event may have nothing of it. */
export interface ArrivalView {
  readonly method: string | undefined;
  /** Path and query. */
  readonly target: string | undefined;
  readonly remoteAddress: string | undefined;
  /** Names in lower case; without those that may hold a secret. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Reads what the log keeps of an event's arrival. */
export function arrivalOf({ arrival }: Pick<StoredEvent, 'arrival'>): ArrivalView {
  const { method, path, remoteAddress, headers } = JSON.parse(arrival) as Readonly<Record<string, unknown>>;
  const fields = typeof headers === 'object' && headers !== null ? Object.entries(headers) : [];
  return {
    method: text(method),
    target: text(path),
    remoteAddress: text(remoteAddress),
    headers: fields.flatMap(([name, value]) =>
      [value].flat().flatMap((one: unknown) => (typeof one === 'string' ? [[name, asUtf8(one)] as const] : [])),
    ),
  };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Node reads header fields as ISO 8859-1; most that are not ASCII were meant as UTF-8. */
function asUtf8(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  const read = bytes.toString();
  return bytes.toString('latin1') === value && Buffer.from(read).equals(bytes) ? read : value;
}
