import type { NewEvent } from '../../events/stored-event';
import { EventLogError, MAX_SEARCH_TEXT, type SearchQuery } from '../event-log';

/** Says of an event whether a search looks for it, wherever it stands. */
export type EventMatcher = (event: NewEvent) => boolean;

/** Data that is kept as base64. */
const BASE64 = /^\s*"data_base64"/;

/** @throws {EventLogError} the text is too long to be searched for. */
export function requireSearchable({ text = '' }: SearchQuery): void {
  if (text.length <= MAX_SEARCH_TEXT) return;
  throw new EventLogError(
    `The text to search for has ${String(text.length)} characters, and can have ${String(MAX_SEARCH_TEXT)}.`,
  );
}

/** Makes a matcher as `EventLog.search` promises, for engines that cannot match where the events are stored. */
export function eventMatcher({ text, binding, type, from = -Infinity, to = Infinity }: SearchQuery): EventMatcher {
  const pattern = text === undefined ? undefined : textPattern(text);
  return ({ recordedAt, attributes, arrival, data = '' }) => {
    if (recordedAt < from || recordedAt >= to) return false;
    if (binding !== undefined || type !== undefined) {
      const parsed = JSON.parse(attributes) as Readonly<Record<string, unknown>>;
      if (parsed.binding !== (binding ?? parsed.binding) || parsed.type !== (type ?? parsed.type)) return false;
    }
    if (pattern === undefined) return true;
    return pattern.test(attributes) || pattern.test(arrival) || (!BASE64.test(data) && pattern.test(data));
  };
}

/** Returns the forms in which a text may stand in JSON text: as it is, and as writers of JSON escape it inside a string. */
export function textForms(text: string): string[] {
  const escaped = JSON.stringify(text).slice(1, -1);
  const inAscii = escaped.replace(/[^\0-\x7f]/g, unicodeEscape);
  const forms = [escaped, inAscii, escaped.replaceAll('/', '\\/'), inAscii.replaceAll('/', '\\/')];
  // JSON writes control characters and lone surrogates with escapes only.
  const canStandAsItIs = text.isWellFormed() && ![...text].some((character) => character < ' ');
  return [...new Set(canStandAsItIs ? [text, ...forms] : forms)];
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
