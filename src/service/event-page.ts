import { sequenceOf } from '../events/position';
import { problemOf, wireBytes } from '../events/stored-event';
import type { EventLog } from '../log/event-log';
import type { EventQuery, LoggedEvent } from '../log/queries';
import { LARGE_MESSAGE, letOthersRun } from '../util/promises';

/** The events of an answer: at most `maxBytes`, each with a comma, as {@link wireBytes} counts. */
export interface PageQuery extends EventQuery {
  readonly maxBytes: number;
  /** Bytes of the reference that stands in for omitted data. */
  readonly referenceBytes: number;
}

/** Bytes of an event besides its attributes and data, with the comma after it. */
const OTHER_BYTES = `,"sequence":"${sequenceOf(1)}",`.length;

/** The most that `wireBytes` counts for one character of a text. */
const MOST_BYTES = '&amp;'.length;

/**
 * Reads events as {@link EventLog.read} does, as many as an answer has room for, at least one if there is one. Data is left out if
 * its event alone is too large for an answer, unless that is the first that was asked for by `id` or `position`.
 *
 * @throws {EventLogError}
 */
export async function readPage(log: Pick<EventLog, 'read'>, query: PageQuery): Promise<LoggedEvent[]> {
  let found = await log.read(query);
  if (query.id !== undefined || query.position !== undefined) {
    // Of events that were named, the log leaves out none that the disk has damaged.
    found = found.filter((event) => problemOf(event) === undefined);
    // Making an answer of a large event takes as long as checking it.
    await letOthersRun();
  }
  if (fitSurely(found, query)) return found;
  const { after, limit } = query;
  const page: LoggedEvent[] = [];
  const inLogOrder = () => (after === undefined ? page.toReversed() : page);
  let room = query.maxBytes;
  let measured = 0;
  for (;;) {
    let mayBeMore = false;
    for (const event of after === undefined ? found.toReversed() : found) {
      // Not after the last one: calls that came one after the other would be answered in another order.
      if (measured > LARGE_MESSAGE) {
        await letOthersRun();
        measured = 0;
      }
      const { listed, bytes } = inAnswer(event, query, page.length === 0);
      // The first is listed in any case: a reader could not go on after it otherwise.
      if (page.length === limit || (page.length > 0 && bytes > room)) return inLogOrder();
      room -= bytes;
      page.push(listed);
      // The log counts fewer bytes, so an answer is full first, unless data that the log counted is left out.
      mayBeMore ||= listed.dataOmitted === true && event.dataOmitted === undefined;
      measured += event.data?.length ?? 0;
    }
    if (!mayBeMore || page.length === limit) return inLogOrder();
    const last = page.at(-1)?.position;
    const rest = after === undefined ? { before: last } : { after: last };
    found = await log.read({ ...query, limit: limit - page.length, ...rest });
  }
}

/** An event as an answer lists it, without its data if that is too large, and its bytes there. */
function inAnswer(event: LoggedEvent, { id, position, maxBytes, referenceBytes }: PageQuery, isFirst: boolean) {
  const { attributes, data } = event;
  const headBytes = wireBytes(attributes) + OTHER_BYTES;
  const whole = headBytes + (data === undefined ? 0 : wireBytes(data) + ','.length);
  const isWanted = isFirst && (id !== undefined || position !== undefined);
  if (!event.dataOmitted && (isWanted || whole <= maxBytes)) return { listed: event, bytes: whole };
  const listed: LoggedEvent = { ...event, data: undefined, dataOmitted: true };
  return { listed, bytes: headBytes + referenceBytes };
}

/** Whether events fit, judged by the lengths of their texts. */
function fitSurely(events: readonly LoggedEvent[], { maxBytes }: PageQuery): boolean {
  let most = 0;
  for (const { attributes, data = '', dataOmitted } of events) {
    if (dataOmitted) return false;
    most += MOST_BYTES * (attributes.length + data.length) + OTHER_BYTES + 1;
  }
  return most <= maxBytes;
}
