import { Binding } from '../../config/values';
import { shortened } from '../../util/text';
import { timeText } from '../../util/time';
import { shownText } from '../markup';

/** A name with its value, both HTML. */
export type Pair = Readonly<Record<'name' | 'value', string>>;

/** Most pairs of each kind, and most bytes of all of them, as markup. */
const MAX_PAIRS = 200;
export const PAIRS_BYTES = 20_000;

/** Shows names with their values, as many as fit into `maxBytes` as markup. */
export function pairs(entries: readonly (readonly [name: string, value: unknown])[], maxBytes = PAIRS_BYTES): Pair[] {
  let left = maxBytes;
  const shown: Pair[] = [];
  for (const [name, value] of entries.slice(0, MAX_PAIRS)) {
    const pair = { name: shownText(name, 300), value: shownValue(String(value), Math.max(300, left / 2)) };
    left -= Buffer.byteLength(pair.name) + Buffer.byteLength(pair.value) + 60;
    if (left < 0) break;
    shown.push(pair);
  }
  if (shown.length < entries.length) shown.push({ name: '…', value: `${String(entries.length - shown.length)} more` });
  return shown;
}

/** Longer values are folded; one that ends with `…` has been cut there already. */
const LONG_VALUE = 200;

/** Shows a value, a long one as its beginning, which unfolds to the rest. */
function shownValue(value: string, maxBytes: number): string {
  if (value.length <= LONG_VALUE + 1) return shownText(value, maxBytes);
  const start = shortened(value, LONG_VALUE);
  const rest = shownText(value.slice(start.length - 1), maxBytes);
  return `<details><summary>${shownText(start)}</summary>${rest}</details>`;
}

/** Short names of the bindings: `GET` for `HTTP GET`. */
export const BINDING_LABELS: ReadonlyMap<string, string> = new Map(
  Object.entries(Binding.names).map(([binding, name]) => [binding, name.replace(/^HTTP /, '')]),
);

/** A binding's name, and its class in the style sheet if it is one of ours. */
export function bindingView(binding: string | undefined) {
  const name = binding === undefined ? undefined : BINDING_LABELS.get(binding);
  return { binding: name === undefined ? undefined : binding, bindingName: name ?? '–' };
}

/** A time for a person and, for the `time` element, in RFC 3339. */
export function timeView(milliseconds: number) {
  return { time: timeText(milliseconds), dateTime: new Date(milliseconds).toISOString() };
}

export function countText(count: number): string {
  return count.toLocaleString('en');
}

/** Writes a number of events: `1 event`, `1,000 events`. */
export function eventsText(count: number): string {
  return `${countText(count)} ${count === 1 ? 'event' : 'events'}`;
}

/** Writes the day of a time for a person, in UTC: `Sun, 22 Nov 2026`. */
export function dayText(milliseconds: number): string {
  return new Date(milliseconds).toUTCString().slice(0, 'Sun, 22 Nov 2026'.length);
}

export function hexText(bytes: Buffer): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
}
