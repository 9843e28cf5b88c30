import { Arrival } from '../../events/arrival';
import { EventData } from '../../events/payload';
import { sequenceOf, type StoredEvent } from '../../events/stored-event';
import { letOthersRun } from '../../util/promises';
import { dataTypeOf } from '../received-request';
import { dataText, MAX_BYTES, type ShownText } from './data-view';
import { eventLink, type Filter } from './list-query';
import { countText, longMarkup, timeView } from './markup';

/** Most lines of each text that are compared, and most characters of a text that is not data. */
const MAX_LINES = 20_000;
const MAX_CHARACTERS = 16 * 1024;

/** Texts with more edits are shown one after the other: finding this many takes 10 ms, and the time grows with their square. */
const MAX_EDITS = 300;

/** Equal lines that are shown before and after a difference; others are counted. */
const CONTEXT = 5;

/** What is shown of an event without data. */
const NOTHING = { kind: '', text: '', isCut: false };

/** Shows the differences between two events, opened from the list of a filter. What a sender wrote is HTML. */
export async function comparisonView(before: StoredEvent, after: StoredEvent, filter: Filter) {
  const both = [before, after];
  return {
    events: both.map(({ position, recordedAt }) => ({ ...eventLink(position, filter), ...timeView(recordedAt) })),
    parts: [
      await partView('data', 'Data', dataOf(both), MAX_BYTES),
      await partView('attributes', 'Attributes', both.map(attributesOf), 8 * MAX_CHARACTERS),
      await partView('arrival', 'How they arrived', both.map(arrivalText), 8 * MAX_CHARACTERS),
    ],
  };
}

async function partView(id: string, title: string, texts: readonly ShownText[], maxBytes: number) {
  const [before = NOTHING, after = NOTHING] = texts.map(firstLines);
  const difference = await differenceView(before.text, after.text, maxBytes);
  return { id, title, ...difference, isCut: difference.isCut || before.isCut || after.isCut };
}

/** Data of different kinds may have the same text: the kind is then the first line. */
function dataOf(events: readonly StoredEvent[]): ShownText[] {
  const shown = events.map((event) => {
    const data = EventData.of(event);
    return data === undefined ? NOTHING : dataText(data, dataTypeOf(event)?.isJson);
  });
  const haveOneKind = new Set(shown.filter((one) => one !== NOTHING).map(({ kind }) => kind)).size < 2;
  return haveOneKind ? shown : shown.map(({ kind, text, isCut }) => ({ text: `${kind}\n${text}`, isCut }));
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
  if (before === after) return { html: undefined, isCut: false };
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
      if (n === 1) pieces.push(`<span class="comment">${countText(skipped, 'equal line')}</span>\n`);
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

const linesIn = (text: string) => text.split('\n').slice(0, -1);
