import type { NewEvent } from '../../events/stored-event';
import type { Match } from '../event-log';

/** Most characters that are shown before a match, and after it. */
const SHOWN_BEFORE = 24;
const SHOWN_AFTER = 96;

/** Characters that JSON may write for one. */
const ESCAPE_LENGTH = 6;

/** Characters that an engine reads before the place of a match, and from there on: as many as are shown, each of them escaped. */
export const READ_BEFORE = (SHOWN_BEFORE + 1) * ESCAPE_LENGTH;
export const READ_AFTER = (200 + SHOWN_AFTER + 1) * ESCAPE_LENGTH;

/** The texts of an event in which a match may be, those first in which it helps a reader most. */
export const SEARCHED = ['data', 'attributes', 'arrival'] as const;

/** What an engine reads around the first match in an event. */
export interface MatchSurroundings {
  readonly in: Match['in'];
  readonly text: string;
  /** Whether nothing was cut off before `text`, and nothing after it. */
  readonly isStart: boolean;
  readonly isEnd: boolean;
}

/** Data that is kept as base64. */
const BASE64 = /^\s*"data_base64"/;

/** Finds the first match of a pattern in an event, for engines that have its texts at hand. */
export function findMatch(event: NewEvent, pattern: RegExp): MatchSurroundings | undefined {
  for (const name of SEARCHED) {
    const text = event[name];
    if (text === undefined || (name === 'data' && BASE64.test(text))) continue;
    const place = pattern.exec(text)?.index;
    if (place === undefined) continue;
    const [start, end] = [Math.max(0, place - READ_BEFORE), place + READ_AFTER];
    return { in: name, text: text.slice(start, end), isStart: start === 0, isEnd: end >= text.length };
  }
  return undefined;
}

/** The name of the data member. */
const DATA_NAME = /^\s*"data"\s*:\s*/;

/** What stands before a match, the match, and what stands after it. */
type Parts = readonly [before: string, text: string, after: string];

/**
 * Makes what a list shows of a match. Returns undefined for one in the name of the data member.
 *
 * @param isString - whether the match is in the data, and that is a string, whose escapes are undone.
 */
export function shownMatch(around: MatchSurroundings, pattern: RegExp, isString: boolean): Match | undefined {
  const found = pattern.exec(around.text);
  const start = around.in === 'data' && around.isStart ? (DATA_NAME.exec(around.text)?.[0].length ?? 0) : 0;
  if (found === null || found.index < start) return undefined;
  const end = found.index + found[0].length;
  const raw: Parts = [around.text.slice(start, found.index), found[0], around.text.slice(end)];
  const [before, text, after] = (isString ? unescaped(raw, around) : undefined) ?? raw;
  const isCutBefore = !around.isStart || before.length > SHOWN_BEFORE;
  const isCutAfter = !around.isEnd || after.length > SHOWN_AFTER;
  return {
    in: around.in,
    before: isCutBefore ? `…${before.slice(-SHOWN_BEFORE).replace(/^[\uDC00-\uDFFF]/, '')}` : before,
    text,
    after: isCutAfter ? `${after.slice(0, SHOWN_AFTER).replace(/[\uD800-\uDBFF]$/, '')}…` : after,
  };
}

/** Undoes the escapes of the parts of a JSON string. Undefined if one begins or ends within an escape, or has a quote of the string. */
function unescaped([before, text, after]: Parts, { isStart, isEnd }: MatchSurroundings): Parts | undefined {
  if (isStart && before === '') return undefined;
  // The end that was cut may divide an escape.
  const whole = isEnd ? after.replace(/"\s*$/, '') : /^(?:[^\\]|\\u[\da-f]{4}|\\[^u])*/i.exec(after)?.[0];
  try {
    const parts = [isStart ? before.slice(1) : before, text, whole ?? ''].map(
      (part) => JSON.parse(`"${part}"`) as string,
    );
    return parts as unknown as Parts;
  } catch {
    return undefined;
  }
}
