import type { NewEvent } from '../../events/stored-event';
import { EventLogError, MAX_SEARCH_TEXT, type SearchQuery } from '../event-log';
import { textPattern } from './text-forms';

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
