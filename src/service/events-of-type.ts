import type { EventLog } from '../log/event-log';
import type { EventQuery, LoggedEvent } from '../log/log-reader';
import { readPage, type PageQuery } from './event-page';

/** Most types of which a part without events is remembered. */
const MAX_GAPS = 64;

/** A page of events, of one type or of all. */
export interface TypedPage {
  readonly events: LoggedEvent[];
  /** The query with which a search goes on that has found nothing yet. */
  readonly rest: PageQuery | undefined;
}

/**
 * Parts of a log that have no event of a type. Events are only added after them, so a caller that asks for news of a rare type again
 * and again, after the same position, does not have them searched each time.
 */
export class Gaps {
  /** The last one found of each type, from one position, which is not in it, to another, which is. */
  readonly #byType = new Map<string, { readonly after: number; readonly end: number }>();

  /** The position after which the next event of a type may be. */
  endOf(type: string, after: number): number {
    const gap = this.#byType.get(type);
    return gap !== undefined && gap.after <= after && after < gap.end ? gap.end : after;
  }

  add(type: string, after: number, end: number): void {
    const gap = this.#byType.get(type);
    const isNext = gap !== undefined && gap.after <= after && after <= gap.end;
    this.forget(type);
    this.#byType.set(type, { after: isNext ? gap.after : after, end });
    const [oldest] = this.#byType.keys();
    if (this.#byType.size > MAX_GAPS && oldest !== undefined) this.forget(oldest);
  }

  forget(type: string): void {
    this.#byType.delete(type);
  }
}

/** Reads events of a type as {@link readPage} does. The log searches for them, each time for half a second at most. */
export async function readPageOfType(
  log: Pick<EventLog, 'read' | 'search' | 'newest'>,
  query: PageQuery & { readonly type: string },
  gaps: Gaps,
): Promise<TypedPage> {
  let rest: PageQuery | undefined;
  const read = async (part: EventQuery): Promise<LoggedEvent[]> => {
    const { type } = query;
    const { before, limit } = part;
    const after = part.after === undefined ? undefined : gaps.endOf(type, part.after);
    const { events: found, reached, more } = await log.search({ type, after, before, limit });
    if (after !== undefined && found.length === 0) {
      if (reached !== undefined) gaps.add(type, after, reached.position);
      // The log was replaced by another one.
      else if (after !== part.after && (await log.newest()) < after) gaps.forget(type);
    }
    const place = reached?.position ?? after;
    rest =
      more || found.length > 0
        ? { ...query, ...(after === undefined ? { before: place } : { after: place }) }
        : undefined;
    return readAt(
      log,
      part,
      found.map(({ position }) => position),
    );
  };
  const events = await readPage({ read }, query);
  return { events, rest: events.length === 0 ? rest : undefined };
}

/**
 * Reads the events at some positions, highest first, as `EventLog.read` does; neighbours together.
 */
async function readAt(
  log: Pick<EventLog, 'read'>,
  { after, maxBytes = Infinity }: EventQuery,
  positions: readonly number[],
): Promise<LoggedEvent[]> {
  const runs = runsOf(positions);
  const isUpwards = after !== undefined;
  const pages: LoggedEvent[][] = [];
  let bytes = 0;
  for (const { first, last } of isUpwards ? runs.toReversed() : runs) {
    const limit = last - first + 1;
    const place = { after: isUpwards ? first - 1 : undefined, before: last + 1 };
    const read = await log.read({ ...place, limit, maxBytes });
    // One of the run may be forgotten by now.
    const page = read.filter(({ position }) => position >= first);
    pages.push(page);
    for (const { attributes, data = '' } of page) bytes += Buffer.byteLength(attributes) + Buffer.byteLength(data);
    if (bytes > maxBytes) break;
  }
  return (isUpwards ? pages : pages.reverse()).flat();
}

/** The runs of neighbours among positions, which fall. */
function runsOf(positions: readonly number[]): { first: number; last: number }[] {
  const runs: { first: number; last: number }[] = [];
  for (const position of positions) {
    const run = runs.at(-1);
    if (run?.first === position + 1) run.first = position;
    else runs.push({ first: position, last: position });
  }
  return runs;
}
