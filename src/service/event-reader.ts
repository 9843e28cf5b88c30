import { setImmediate as nextTurn } from 'node:timers/promises';
import { sequenceOf, wireBytes, StoredEvent } from '../events/stored-event';
import type { EventLog } from '../log/event-log';
import type { EventQuery } from '../log/queries';
import { Deferred, LARGE_MESSAGE, letOthersRun, Semaphore } from '../util/promises';
import { parseDuration } from '../util/time';
import { CallError, type Call, type ParameterValues } from './call';

/** The longest that a call may wait, in milliseconds: proxies and clients give up on one that takes much longer. */
const MAX_WAIT = 60_000;

/** How long a call may wait for the first event of its query, in milliseconds. @throws {CallError} */
export function waitParameter({ wait }: ParameterValues, query: EventQuery): number {
  if (wait === undefined) return 0;
  const milliseconds = typeof wait === 'string' ? parseDuration(wait) : undefined;
  if (milliseconds === undefined || milliseconds > MAX_WAIT)
    throw CallError.mustBe('wait', 'a duration of at most 60s, as in 20s or 500ms');
  if (isNamed(query)) throw CallError.mustBe('wait', 'given without the parameters id and sequence');
  return milliseconds;
}

/** The events of an answer: at most `maxBytes`, each with a comma, as {@link wireBytes} counts. */
export interface PageQuery extends EventQuery {
  readonly maxBytes: number;
  /** Bytes of the `dataref` that stands in for omitted data. */
  readonly datarefBytes: number;
}

/** Bytes of an event besides its attributes and data, with the comma after it. */
const OTHER_BYTES = `,"sequence":"${sequenceOf(1)}",`.length;

/**
 * Reads events as {@link EventLog.read} does, as many as an answer has room for, at least one if there is one. Data is left out if
 * its event alone is too large for an answer.
 *
 * @throws {EventLogError}
 */
export async function readPage(log: Pick<EventLog, 'read'>, query: PageQuery): Promise<StoredEvent[]> {
  const page = new Page(query);
  for (let next: EventQuery | undefined = query; next !== undefined;) next = await page.add(await log.read(next));
  return page.events.toSorted((one, other) => one.position - other.position);
}

class Page {
  /** In the order in which they are read: the newest first, or those after a position. */
  readonly events: StoredEvent[] = [];
  #bytes = 0;

  constructor(private readonly query: PageQuery) {}

  /** Adds what the log found, up to the first event that does not fit. Resolves to the query for others that may, if there is room left. */
  async add(found: readonly StoredEvent[]): Promise<EventQuery | undefined> {
    const { after, limit, maxBytes } = this.query;
    let measured = 0;
    let mayBeMore = false;
    for (const event of after === undefined ? found.toReversed() : found) {
      // Pauses before an event, never after the last: later calls would be answered first.
      if (measured > LARGE_MESSAGE) {
        await letOthersRun();
        measured = 0;
      }
      const { listed, bytes } = inAnswer(event, this.query);
      // The first is listed in any case: a reader could not go on after it otherwise.
      if (this.events.length > 0 && this.#bytes + bytes > maxBytes) return undefined;
      this.#bytes += bytes;
      this.events.push(listed);
      // The log stops at `maxBytes` by a lower count, so the page is full by then, unless the log counted data that is left out here: 900
      // times `<` fill most of 1,000 bytes there. As `&lt;` they do not fit here, and the event takes 200 bytes without them.
      mayBeMore ||= listed.dataOmitted !== event.dataOmitted;
      measured += event.data?.length ?? 0;
    }
    const left = limit - this.events.length;
    if (!mayBeMore || left === 0) return undefined;
    const last = this.events.at(-1)?.position;
    return { ...this.query, limit: left, ...(after === undefined ? { before: last } : { after: last }) };
  }
}

function inAnswer(event: StoredEvent, { maxBytes, datarefBytes }: PageQuery) {
  const { attributes, data } = event;
  const headBytes = wireBytes(attributes) + OTHER_BYTES;
  const whole = headBytes + (data === undefined ? 0 : wireBytes(data) + ','.length);
  if (event.dataOmitted === undefined && whole <= maxBytes) return { listed: event, bytes: whole };
  const dataOmitted = event.dataOmitted ?? Buffer.byteLength(data ?? '');
  const listed: StoredEvent = { ...event, data: undefined, dataOmitted };
  return { listed, bytes: headBytes + datarefBytes };
}

/** Whether a query names events by `id` or `position`. */
function isNamed({ id, position }: EventQuery): boolean {
  return id !== undefined || position !== undefined;
}

/** Reads events for calls that may wait for them. */
export class EventReader {
  /** The reads under way for calls that were woken together, by what they ask for. */
  readonly #reads = new Map<string, Promise<StoredEvent[]>>();
  readonly #handouts = new Semaphore(1);

  constructor(private readonly log: Pick<EventLog, 'read' | 'watch' | 'wholeEventReads'>) {}

  /**
   * Reads a page of events, as soon as there is one. Resolves to none when the time is over, the caller is gone or the service stops.
   * The first event that was asked for by `id` or `position` comes whole. Throws what {@link Call.whileIdle} and {@link Call.reserve} throw.
   */
  async read(query: PageQuery, milliseconds: number, call: Call): Promise<readonly StoredEvent[]> {
    const deadline = performance.now() + milliseconds;
    let events: readonly StoredEvent[] = await readPage(this.log, query);
    if (isNamed(query)) return this.#withFirst(events, query, call);
    for (let seen = query.after ?? 0; events.length === 0 && performance.now() < deadline;) {
      const newest = await call.whileIdle((signal) =>
        newestAfter(this.log, seen, deadline - performance.now(), signal),
      );
      if (newest === undefined) break;
      // The log has none up to the position seen: one without an index of types does not look there again.
      events = await this.#readTogether({ ...query, after: seen }, newest);
      // That read gave the oldest after `seen`; without `after` the newest were asked for.
      if (events.length > 0 && query.after === undefined) events = await this.#readTogether(query, newest);
      // An event there may be forgotten already: then the wait goes on after it.
      seen = newest;
    }
    return events;
  }

  /** Reads the data of the first event, if it was left out, once there is room for it. */
  async #withFirst(page: readonly StoredEvent[], { after }: PageQuery, call: Call): Promise<readonly StoredEvent[]> {
    const first = after === undefined ? page.at(-1) : page[0];
    const { position, dataOmitted } = first ?? {};
    if (dataOmitted === undefined) return page;
    return this.log.wholeEventReads.run(async () => {
      call.reserve(dataOmitted);
      const whole = await this.log.read({ position, limit: 1 });
      // Making an answer of a large event takes as long as checking it.
      await letOthersRun();
      return page.flatMap((event) => (event === first ? whole : event));
    });
  }

  /** Reads a page, once for all calls that a position woke with the same query: the read finds every event up to it. */
  async #readTogether(query: PageQuery, newest: number): Promise<StoredEvent[]> {
    const key = JSON.stringify([newest, query]);
    let reading = this.#reads.get(key);
    if (reading === undefined) {
      reading = readPage(this.log, query).finally(() => this.#reads.delete(key));
      this.#reads.set(key, reading);
    }
    const page = await reading;
    // Each then makes its answer, which counts against MAX_BODY_MEMORY, before the next does; other calls run in between.
    await this.#handouts.run(() => nextTurn());
    return page;
  }
}

/** Resolves to the newest position as soon as it is past `after`, or to undefined after `milliseconds` or if the signal fires. */
export async function newestAfter(
  log: Pick<EventLog, 'watch'>,
  after: number,
  milliseconds: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (signal.aborted || milliseconds <= 0) return undefined;
  const found = new Deferred<number | undefined>();
  const giveUp = () => found.resolve(undefined);
  const endWatch = log.watch((newest) => {
    if (newest > after) found.resolve(newest);
  });
  const timer = setTimeout(giveUp, milliseconds);
  signal.addEventListener('abort', giveUp);
  try {
    return await found.promise;
  } finally {
    endWatch();
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
  }
}
