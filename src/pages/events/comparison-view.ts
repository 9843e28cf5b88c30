import type { ChangeObject } from 'diff';
import { Arrival } from '../../events/arrival';
import { EventData } from '../../events/event-data';
import { sequenceOf } from '../../events/position';
import type { StoredEvent } from '../../events/stored-event';
import { letOthersRun } from '../../util/promises';
import { isJsonType } from '../received-request';
import { dataText, MAX_BYTES, type ShownText } from './data-view';
import { addressQuery, filterValues, type Filter } from './list-query';
import { longMarkup } from '../markup';
import { countText, timeView } from './parts';

/** Most lines of each text that are compared, and most characters of a text that is not data. */
const MAX_LINES = 20_000;
const MAX_CHARACTERS = 16 * 1024;

/** Texts that differ in more lines are shown one after the other: 10 ms, which grow with the square. */
const MAX_EDITS = 300;

/** Equal lines that are shown before and after a difference; others are folded if they are more. */
const CONTEXT = 3;

export type ComparisonView = Awaited<ReturnType<typeof comparisonView>>;

/** Shows the differences between two events, opened from the list of a filter. What a sender wrote is HTML; links have only the query. */
export async function comparisonView(before: StoredEvent, after: StoredEvent, filter: Filter) {
  const both = [before, after] as const;
  const parts = [
    { id: 'data', title: 'Data', texts: dataOf(before, after), maxBytes: MAX_BYTES },
    { id: 'attributes', title: 'Attributes', texts: both.map(attributesOf), maxBytes: 8 * MAX_CHARACTERS },
    { id: 'arrival', title: 'How they arrived', texts: both.map(arrivalText), maxBytes: 8 * MAX_CHARACTERS },
  ];
  const shown = [];
  for (const { id, title, texts, maxBytes } of parts) {
    const [one = [], other = []] = texts.map(({ text }) => linesOf(text));
    const difference = await differenceView(one, other, maxBytes);
    const isCut =
      difference.isCut || texts.some((text) => text.isCut) || Math.max(one.length, other.length) > MAX_LINES;
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
    const { datacontenttype } = JSON.parse(event.attributes) as { readonly datacontenttype?: unknown };
    return data && dataText(data, isJsonType(datacontenttype));
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
  const { method, target, remoteAddress, signedBy, headers } = new Arrival(event);
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

/** Divides a text into lines: one more than are compared, if it has more. A carriage return belongs to its line. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split('\n', MAX_LINES + 1);
}

/** Shows texts line by line: lines of the first alone after a minus, those of the other alone after a plus. */
async function differenceView(before: readonly string[], after: readonly string[], maxBytes: number) {
  // Few services are asked to compare.
  const { diffArrays } = await import('diff');
  const [one, other] = [before.slice(0, MAX_LINES), after.slice(0, MAX_LINES)];
  const runs: readonly Run[] = diffArrays(one, other, { maxEditLength: MAX_EDITS }) ?? [
    { removed: true, value: one },
    { added: true, value: other },
  ];
  await letOthersRun();
  const count = (side: 'removed' | 'added') => runs.reduce((sum, run) => sum + (run[side] ? run.value.length : 0), 0);
  const [removed, added] = [count('removed'), count('added')];
  if (removed + added === 0) return { html: undefined, isCut: false };
  return { removed: countText(removed), added: countText(added), ...(await runsMarkup(runs, maxBytes)) };
}

/** Lines that follow each other, of both texts or of one of them. */
type Run = Pick<ChangeObject<string[]>, 'value'> & Partial<Pick<ChangeObject<string[]>, 'removed' | 'added'>>;

/** Shows runs one after the other. Of a long one that both texts have, the middle is folded. */
async function runsMarkup(runs: readonly Run[], maxBytes: number) {
  const pieces: string[] = [];
  let left = maxBytes;
  let isCut = false;
  const add = async (before: string, text: string, after: string) => {
    if (isCut || text === '') return;
    const shown = await longMarkup(text, left);
    pieces.push(before, shown.html, after);
    left -= Buffer.byteLength(shown.html);
    isCut = shown.isCut;
  };
  for (const [i, { removed, added, value: lines }] of runs.entries()) {
    const text = (some: readonly string[], sign = '  ') => some.map((line) => `${sign}${line}\n`).join('');
    const first = i === 0 ? 0 : CONTEXT;
    const last = i === runs.length - 1 ? lines.length : lines.length - CONTEXT;
    // Lines that differ show their carriage returns.
    const withEnds = (sign: string) => text(lines, sign).replaceAll('\r\n', '\u240D\n');
    if (removed) await add('<span class="removed">', withEnds('- '), '</span>');
    else if (added) await add('<span class="added">', withEnds('+ '), '</span>');
    else if (last - first <= CONTEXT) await add('', text(lines), '');
    else {
      await add('', text(lines.slice(0, first)), '');
      const count = `${countText(last - first)} equal lines<span class="more"></span>\n`;
      await add(`<details><summary>${count}</summary>`, text(lines.slice(first, last)), '</details>');
      await add('', text(lines.slice(last)), '');
    }
  }
  return { html: pieces.join(''), isCut };
}
