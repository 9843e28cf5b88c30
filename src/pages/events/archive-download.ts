import { archiveLine, archiveProblem } from '../../events/archive';
import { foundEvents } from '../../log/stored-events';
import type { EventLog } from '../../log/event-log';
import { letOthersRun } from '../../util/promises';
import type { Filter } from './list-query';

/** About how many characters are written at a time, after which other calls run. */
const CHUNK = 64 * 1024;

/**
 * Writes all events that a search finds, oldest first, in the lines of an export.
 *
 * @param stop - ends it early.
 * @param leftOut - called with the sequence of each event that is damaged.
 */
export async function* archiveOf(
  log: EventLog,
  filter: Filter,
  stop: AbortSignal,
  leftOut: (sequence: string) => void,
): AsyncGenerator<string> {
  let text = '';
  for await (const event of foundEvents(log, filter, stop, () => undefined)) {
    if (archiveProblem(event) === undefined) text += `${archiveLine(event)}\n`;
    else leftOut(event.sequence);
    if (text.length < CHUNK) continue;
    yield text;
    text = '';
    await letOthersRun();
  }
  yield text;
}
