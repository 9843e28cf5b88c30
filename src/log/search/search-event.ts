import type { NewEvent } from '../../events/stored-event';
import { findMatch, type MatchSurroundings } from './match';
import { EventLogError, MAX_SEARCH_TEXT, type SearchQuery } from '../event-log';

/** Finds where in an event the text is that a search looks for. Returns undefined if the search does not find the event. */
export type EventMatcher = (event: NewEvent) => Matched | undefined;

/** Where in an event the text of a search is; empty for a search without a text. */
export interface Matched {
  readonly around?: MatchSurroundings | undefined;
  readonly pattern?: RegExp;
}

/** @throws {EventLogError} the text is too long to be searched for. */
export function requireSearchable({ text = '' }: SearchQuery): void {
  if (text.length <= MAX_SEARCH_TEXT) return;
  throw new EventLogError(
    `The text to search for has ${String(text.length)} characters, and can have ${String(MAX_SEARCH_TEXT)}.`,
  );
}

/** Makes a matcher as `EventLog.search` promises, for engines that cannot match where the events are stored. */
export function eventMatcher(query: SearchQuery): EventMatcher {
  const { text, binding, type, otherTypes = [], sender, from = -Infinity, to = Infinity } = query;
  const pattern = text === undefined ? undefined : textPattern(text);
  return (event) => {
    if (event.recordedAt < from || event.recordedAt >= to) return undefined;
    if (binding !== undefined || type !== undefined || otherTypes.length > 0) {
      const parsed = JSON.parse(event.attributes) as Readonly<Record<string, unknown>>;
      if (parsed.binding !== (binding ?? parsed.binding) || parsed.type !== (type ?? parsed.type)) return undefined;
      if (otherTypes.includes(String(parsed.type))) return undefined;
    }
    if (sender !== undefined && (JSON.parse(event.arrival) as { remoteAddress?: unknown }).remoteAddress !== sender)
      return undefined;
    if (pattern === undefined) return {};
    const around = findMatch(event, pattern);
    return around && { around, pattern };
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
export function textPattern(text: string): RegExp {
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
