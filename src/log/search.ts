import { EventData } from '../events/payload';
import type { NewEvent, StoredEvent } from '../events/stored-event';
import { shortened } from '../util/text';
import {
  DATA_START,
  type DataSummary,
  type Events,
  type FoundEvent,
  type Match,
  type SearchQuery,
  type SearchResult,
} from './queries';

/** Most characters that are shown before a match, and after it. */
const SHOWN_BEFORE = 24;
const SHOWN_AFTER = 96;

/** Characters that JSON may write for one. */
const ESCAPE_LENGTH = 6;

const READ_BEFORE = (SHOWN_BEFORE + 1) * ESCAPE_LENGTH;
const READ_AFTER = (SHOWN_AFTER + 1) * ESCAPE_LENGTH;

/** The texts of an event in which a match may be, those first in which it helps a reader most. */
const SEARCHED = ['data', 'attributes', 'arrival'] as const;

/** The characters of an event from `start` to before `end`, which match a search. */
interface TextRange {
  readonly in: Match['in'];
  readonly start: number;
  readonly end: number;
}

const BASE64 = /^\s*"data_base64"/;
const DATA_NAME = /^\s*"data"\s*:\s*/;

/** Returns a match as lists show it, without escapes in a string; undefined for one in the name of the data member. */
function shownMatch(event: NewEvent, { in: name, start, end }: TextRange, isString: boolean): Match | undefined {
  const whole = (event[name] ?? '').trimEnd();
  const nameLength = name === 'data' ? (DATA_NAME.exec(whole)?.[0].length ?? 0) : 0;
  if (start < nameLength) return undefined;
  const plain = isString ? withoutEscapes : (text: string) => text;
  const quote = isString ? 1 : 0;
  const before = plain(whole.slice(Math.max(nameLength + quote, start - READ_BEFORE), start));
  const after = plain(whole.slice(end, Math.min(whole.length - quote, end + READ_AFTER)));
  return {
    in: name,
    before: before.length > SHOWN_BEFORE ? `…${before.slice(-SHOWN_BEFORE).replace(/^[\uDC00-\uDFFF]/, '')}` : before,
    text: plain(whole.slice(start, end)),
    after: shortened(after, SHOWN_AFTER),
  };
}

/** Undoes the escapes in a part of a JSON string; one that is cut in two stays as it is. */
function withoutEscapes(part: string): string {
  return part.replace(/\\(?:u[\da-fA-F]{4}|["\\/bfnrt])/g, (escape) => JSON.parse(`"${escape}"`) as string);
}

/** Returns a function that shows an event as lists do if it matches a query. Damaged events do not. */
export function eventMatcher(query: SearchQuery): (event: StoredEvent) => FoundEvent | undefined {
  const { text, binding, type, sender, fromSender, from = -Infinity, to = Infinity } = query;
  const pattern = text === undefined ? undefined : textPattern(text);
  return (event) => {
    if (event.recordedAt < from || event.recordedAt >= to) return undefined;
    const place = pattern && placeOf(event, pattern);
    if (pattern !== undefined && place === undefined) return undefined;
    try {
      const { attributes, arrival } = textsIn(event);
      const isWanted = [
        [binding, attributes.binding],
        [sender, arrival.remoteAddress],
        [fromSender, arrival['webhook-sender']],
      ].every(([wanted, value]) => wanted === undefined || wanted === value);
      return isWanted && (type === undefined || isOfType(type, attributes.type)) ? foundEvent(event, place) : undefined;
    } catch {
      return undefined;
    }
  };
}

/** The beginning that types have in common if a query's `type` ends in `.*`: all before the `*`. */
export function typePrefix(type: string | undefined): string | undefined {
  return type?.endsWith('.*') ? type.slice(0, -1) : undefined;
}

/** True if an event's type matches a query's `type`. */
export function isOfType(type: string, own: unknown): boolean {
  const prefix = typePrefix(type);
  return prefix === undefined ? own === type : typeof own === 'string' && own.startsWith(prefix);
}

/** How long a search goes on, in milliseconds. */
const SEARCH_TIME = 500;

/** Repeats steps of a search until enough is found, nothing is left or its time is over. */
export async function searched(
  query: SearchQuery,
  take: (step: SearchQuery) => Promise<SearchResult>,
): Promise<SearchResult> {
  const deadline = performance.now() + SEARCH_TIME;
  const isUpwards = query.after !== undefined;
  let events: readonly FoundEvent[] = [];
  let reached: SearchResult['reached'];
  for (;;) {
    const place = reached && (isUpwards ? { after: reached.position } : { before: reached.position });
    const step = await take({ ...query, ...place, limit: query.limit - events.length });
    events = isUpwards ? [...step.events, ...events] : [...events, ...step.events];
    reached = step.reached ?? reached;
    const { more } = step;
    if (!more || events.length === query.limit || performance.now() >= deadline) return { events, reached, more };
  }
}

/** Looks at events from the end at which a search begins, until enough are found or it has to stop, but at one at least. */
export async function searchStep(events: Events, query: SearchQuery, hasToStop: () => boolean): Promise<SearchResult> {
  const matching = eventMatcher(query);
  const found: FoundEvent[] = [];
  let reached: SearchResult['reached'];
  let more = false;
  for await (const event of events) {
    // Checked when another event is at hand, so that `more` is true.
    more = reached !== undefined && (found.length === query.limit || hasToStop());
    if (more) break;
    reached = { position: event.position, recordedAt: event.recordedAt };
    const match = matching(event);
    if (match !== undefined) found.push(match);
  }
  return { events: query.after === undefined ? found : found.reverse(), reached, more };
}

/** @throws a text is damaged. */
function textsIn({ attributes, arrival }: NewEvent): Readonly<Record<'attributes' | 'arrival', Members>> {
  return { attributes: JSON.parse(attributes) as Members, arrival: JSON.parse(arrival) as Members };
}

type Members = Readonly<Record<string, unknown>>;

function placeOf(event: NewEvent, pattern: RegExp): TextRange | undefined {
  for (const name of SEARCHED) {
    const text = event[name];
    if (text === undefined || (name === 'data' && BASE64.test(text))) continue;
    const found = pattern.exec(text);
    if (found !== null) return { in: name, start: found.index, end: found.index + found[0].length };
  }
  return undefined;
}

/** Returns the forms of a text in JSON text: as it is, with the usual escapes, and as the UTF-8 bytes of a header field, kept as characters. */
export function textForms(text: string): string[] {
  const bytes = Buffer.from(text).toString('latin1');
  return [...new Set([text, bytes].flatMap(escapedForms))];
}

function escapedForms(text: string): string[] {
  const escaped = JSON.stringify(text).slice(1, -1);
  const inAscii = escaped.replace(/[^\0-\x7f]/g, unicodeEscape);
  const forms = [escaped, inAscii, escaped.replaceAll('/', '\\/'), inAscii.replaceAll('/', '\\/')];
  // JSON writes control characters and lone surrogates with escapes only.
  const canStandAsItIs = text.isWellFormed() && ![...text].some((character) => character < ' ');
  return canStandAsItIs ? [text, ...forms] : forms;
}

/** Returns a pattern for JSON text with one of the forms of a text in it; ASCII letters match in either case. */
function textPattern(text: string): RegExp {
  const alternatives = textForms(text).map((form) => form.replace(/[^]/g, characterPattern));
  return new RegExp(alternatives.join('|'));
}

function characterPattern(character: string): string {
  if (!/[a-z]/i.test(character)) return unicodeEscape(character);
  return `[${character.toLowerCase()}${character.toUpperCase()}]`;
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Returns an event as lists show it. @throws one of its texts is damaged. */
export function foundEvent(event: StoredEvent, place?: TextRange): FoundEvent {
  const { position, id, recordedAt } = event;
  const {
    attributes: { binding, type },
    arrival: { remoteAddress, 'webhook-sender': sender },
  } = textsIn(event);
  const data = EventData.of(event);
  const isString = place?.in === 'data' && data?.kind === 'text';
  return {
    position,
    id: shortened(id),
    recordedAt,
    binding: shortText(binding),
    type: shortText(type),
    remoteAddress: shortText(remoteAddress),
    sender: shortText(sender),
    data: data && dataSummary(data, event.data ?? ''),
    match: place && shownMatch(event, place, isString),
  };
}

/** @throws a short text is damaged. */
function dataSummary(data: EventData, member: string): DataSummary {
  const { kind, size, encoded } = data;
  const read = DATA_START * ESCAPE_LENGTH;
  if (kind === 'text' && member.length <= read) JSON.parse(`{${member}}`);
  const text = kind === 'bytes' ? encoded.slice(0, read) : data.textStart(read);
  // A character that is cut in two is left out.
  const start = text.slice(0, DATA_START).replace(/[\uD800-\uDBFF]$/, '');
  return { kind, bytes: size, start, cut: start.length < text.length || encoded.length > read };
}

function shortText(value: unknown): string | undefined {
  return typeof value === 'string' ? shortened(value) : undefined;
}
