import { Arrival } from '../../events/arrival';
import { EventData } from '../../events/payload';
import { sequenceOf, type StoredEvent } from '../../events/stored-event';
import { letOthersRun } from '../../util/promises';
import { dataTypeOf } from '../received-request';
import { dataText, MAX_BYTES, type ShownText } from './data-view';
import { addressQuery, filterValues, type Filter } from './list-query';
import { countText, longMarkup, timeView } from './markup';

/** Most lines of each text that are compared, and most characters of a text that is not data. */
const MAX_LINES = 20_000;
const MAX_CHARACTERS = 16 * 1024;

/** Texts that differ in more lines are shown one after the other: 10 ms, which grow with the square. */
const MAX_EDITS = 300;

/** Equal lines that are shown before and after a difference; others are counted. */
const CONTEXT = 5;

/** Shows the differences between two events, opened from the list of a filter. What a sender wrote is HTML. */
export async function comparisonView(before: StoredEvent, after: StoredEvent, filter: Filter) {
  const both = [before, after] as const;
  const parts = [
    { id: 'data', title: 'Data', texts: dataOf(before, after), maxBytes: MAX_BYTES },
    { id: 'attributes', title: 'Attributes', texts: both.map(attributesOf), maxBytes: 8 * MAX_CHARACTERS },
    { id: 'arrival', title: 'How they arrived', texts: both.map(arrivalText), maxBytes: 8 * MAX_CHARACTERS },
  ];
  const shown = [];
  for (const { id, title, texts, maxBytes } of parts) {
    const both = texts.map(firstLines);
    const [one = '', other = ''] = both.map(({ text }) => text);
    const difference = await differenceView(one, other, maxBytes);
    const isCut = difference.isCut || both.some((text) => text.isCut);
    shown.push({ id, title, ...difference, isCut });
  }
  const events = both.map(({ position, recordedAt }) => ({
    position: String(position),
    href: `?${addressQuery({ event: position, ...filterValues(filter) })}`,
    ...timeView(recordedAt),
  }));
  return { events, parts: shown };
}

/** Texts may be equal where what they stand for is not: their kinds come first then. */
function dataOf(...events: readonly StoredEvent[]): ShownText[] {
  const shown = events.map((event) => {
    const data = EventData.of(event);
    return data && dataText(data, dataTypeOf(event)?.isJson);
  });
  const kinds = new Set(shown.flatMap((one) => one?.kind ?? []));
  return shown.map((one) => {
    const { kind, text, isCut } = one ?? { kind: '', text: '', isCut: false };
    return { text: kinds.size > 1 ? `${kind}\n${text}` : text, isCut };
  });
}

function attributesOf({ attributes, position }: StoredEvent): ShownText {
  const members = Object.entries(JSON.parse(attributes) as Readonly<Record<string, unknown>>);
  return fieldLines([...members, ['sequence', sequenceOf(position)]]);
}

function arrivalText(event: StoredEvent): ShownText {
  const { method, target, remoteAddress, signedBy, headers } = Arrival.of(event);
  const request = [method, target].filter((part) => part !== undefined).join(' ');
  return fieldLines([
    ['Request', request === '' ? undefined : request],
    ['Sender', remoteAddress],
    ['Signature verified', signedBy],
    ...Arrival.readable(headers),
  ]);
}

function fieldLines(fields: readonly (readonly [name: string, value: unknown])[]): ShownText {
  const known = fields.filter(([, value]) => value !== undefined);
  const text = known.map(([name, value]) => `${name}: ${String(value)}`).join('\n');
  return { text: text.slice(0, MAX_CHARACTERS), isCut: text.length > MAX_CHARACTERS };
}

/** The lines of a text that are compared, each with a line feed after it. A carriage return belongs to its line. */
function firstLines({ text, isCut }: ShownText): ShownText {
  if (text === '') return { text, isCut };
  const lines = text.split('\n', MAX_LINES + 1);
  return { text: `${lines.slice(0, MAX_LINES).join('\n')}\n`, isCut: isCut || lines.length > MAX_LINES };
}

/** Shows texts line by line: lines of the first alone after a minus, those of the other alone after a plus. */
async function differenceView(before: string, after: string, maxBytes: number) {
  // Few services are asked to compare.
  const { diffLines } = await import('diff');
  // Too different: all lines of one, then all of the other.
  const changes = diffLines(before, after, { maxEditLength: MAX_EDITS }) ?? [
    { value: before, removed: true, added: false },
    { value: after, removed: false, added: true },
  ];
  await letOthersRun();
  const linesOf = (kind: 'removed' | 'added') => changes.flatMap((one) => (one[kind] ? linesIn(one.value) : [])).length;
  const counts = { removed: countText(linesOf('removed')), added: countText(linesOf('added')) };
  if (linesOf('removed') + linesOf('added') === 0) return { html: undefined, isCut: false };
  const pieces: string[] = [];
  let left = maxBytes;
  for (const [i, { value, added, removed }] of changes.entries()) {
    const lines = linesIn(value);
    const isEqual = !added && !removed;
    const [sign, name] = added ? ['+', 'added'] : ['-', 'removed'];
    const head = i === 0 ? 0 : CONTEXT;
    const tail = lines.length - (i === changes.length - 1 ? 0 : CONTEXT);
    const skipped = isEqual ? tail - head : 0;
    for (const [n, part] of (skipped > 0 ? [lines.slice(0, head), lines.slice(tail)] : [lines]).entries()) {
      if (n === 1)
        pieces.push(`<span class="comment">${countText(skipped)} equal line${skipped === 1 ? '' : 's'}</span>\n`);
      const text = part.map((line) => `${isEqual ? ' ' : sign} ${line}\n`).join('');
      // Lines that differ show their carriage returns.
      const { html, isCut } = await longMarkup(isEqual ? text : text.replaceAll('\r\n', '\u240D\n'), left);
      pieces.push(isEqual ? html : `<span class="${name}">${html}</span>`);
      if (isCut) return { ...counts, html: pieces.join(''), isCut };
      left -= Buffer.byteLength(html);
    }
  }
  return { ...counts, html: pieces.join(''), isCut: false };
}

function linesIn(text: string): string[] {
  return text.split('\n').slice(0, -1);
}
