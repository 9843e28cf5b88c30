import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { ArchiveLine } from '../../events/archive-line';
import { problemOf, type StoredEvent } from '../../events/stored-event';
import { HTTP_ERRORS } from '../../http/errors';
import type { EventLog } from '../../log/event-log';
import { EventWaiters } from '../../service/event-reader';
import { letOthersRun, Semaphore } from '../../util/promises';

/** About how many bytes of events are read at a time, unless one has more. */
export const CHUNK = 24 * 1024;

/** Most bytes that a caller is given at a time: TLS holds them a second time, encrypted. */
const PIECE = 32 * 1024;

/** About how many bytes of lines are kept for those who follow and do not have them yet. */
const KEPT_BYTES = 8 * 1024 * 1024;

/** How long events gather before those who follow get them, in milliseconds: one write for many. */
const GATHERING = 200;

/** After this time without an event an empty line shows that the connection lives, in milliseconds. */
const SILENCE = 2000;

export const EMPTY_LINE = Buffer.from('\n');

/** Makes room for a caller's next bytes, in place of those before. Throws if there is none. */
export type Reserve = (bytes: number) => void;

/** The lines of some events, each piece in memory of its own: whoever is slow holds one. */
interface Lines {
  readonly last: number;
  readonly count: number;
  readonly pieces: Buffer[];
}

export function piecesOf(text: string, reserve: Reserve): Buffer[] {
  const bytes = Buffer.from(text);
  reserve(bytes.length);
  if (bytes.length <= PIECE) return [bytes];
  const pieces: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += PIECE)
    pieces.push(Buffer.concat([bytes.subarray(start, start + PIECE)]));
  return pieces;
}

function linesOf(events: readonly StoredEvent[]): string {
  return events.map((event) => `${ArchiveLine.of(event)}\n`).join('');
}

/** Which events are read, from a time on and at most so many. */
type Selected = Readonly<{ since?: number | undefined; limit?: number }>;

/** Reads the lines of events: those of small ones together, that of a large one alone, once there is room for it. */
export class EventLines {
  readonly #log: EventLog;
  readonly #large = new Semaphore(1);

  constructor(log: EventLog) {
    this.#log = log;
  }

  /** Reads the next events after one position and up to another. */
  async next(
    after: number,
    until: number,
    reserve: Reserve,
    { since, limit = Infinity }: Selected = {},
  ): Promise<Lines> {
    const query = { after, before: until + 1, since, limit: Math.min(200, limit), maxBytes: CHUNK };
    const page = await this.#log.read(query);
    const large = page.findIndex(({ dataOmitted }) => dataOmitted !== undefined);
    const { position = until, dataOmitted = 0 } = page[0] ?? {};
    if (large === 0) return this.#large.run(() => this.#alone(position, dataOmitted, reserve));
    const whole = large === -1 ? page : page.slice(0, large);
    return { last: whole.at(-1)?.position ?? until, count: whole.length, pieces: piecesOf(linesOf(whole), reserve) };
  }

  async #alone(position: number, bytes: number, reserve: Reserve): Promise<Lines> {
    reserve(bytes);
    const found = await this.#log.read({ position, limit: 1 });
    const whole = found.filter((event) => problemOf(event) === undefined);
    return { last: position, count: whole.length, pieces: piecesOf(linesOf(whole), reserve) };
  }

  /** Reads all events after one position and up to another. */
  async *between(
    after: number,
    until: number,
    { since, limit: left = Infinity }: Selected,
    reserve: Reserve,
    stop: AbortSignal,
  ): AsyncGenerator<Buffer> {
    while (left > 0 && after < until && !stop.aborted) {
      const { last, count, pieces } = await this.next(after, until, reserve, { since, limit: left });
      after = last;
      left -= count;
      for (let piece; (piece = pieces.shift()) !== undefined;) yield piece;
      await letOthersRun();
    }
    reserve(0);
  }
}

/** New events, which are read and written out once for all who follow. */
export class EventFeed {
  readonly #log: EventLog;
  readonly #lines: EventLines;
  /** By the position after which they begin; each ends where the next one begins, or at `#last`. */
  readonly #kept = new Map<number, Lines>();
  #last = 0;
  #newest = 0;
  #followers = 0;
  readonly #waiters = new EventWaiters(this);
  /** Few are given a piece in one turn of the event loop: a system may take megabytes of each caller at once. */
  readonly #turns = new Semaphore(16);
  #told: ((last: number) => void) | undefined;
  #isTaking = false;
  #failure: unknown;

  constructor(log: EventLog, lines: EventLines) {
    this.#log = log;
    this.#lines = lines;
  }

  /** The events after a position, those that there are and new ones until a time, in that of `performance.now()`. */
  async *follow(start: number, until: number, reserve: Reserve, stop: AbortSignal): AsyncGenerator<Buffer> {
    // Lets the caller see the header.
    yield EMPTY_LINE;
    const newest = await this.#log.newest();
    if (this.#followers++ === 0) this.#last = newest;
    try {
      for (let [after, sent] = [start, 0]; !stop.aborted;) {
        const piece = this.#piece(after, sent);
        const end = this.#kept.get(after)?.last;
        if (piece !== undefined) {
          await this.#turns.run(() => setImmediate());
          yield piece;
          sent++;
        } else if (end !== undefined) [after, sent] = [end, 0];
        // Its next request goes on after the last event that it has whole.
        else if (sent > 0) throw HTTP_ERRORS.tooSlow();
        else if (after < this.#last) {
          const next = [...this.#kept.keys()].find((position) => position > after) ?? this.#last;
          yield* this.#lines.between(after, next, {}, reserve, stop);
          after = next;
        } else {
          const left = after < newest ? SILENCE : until - performance.now();
          if (left <= 0) break;
          const last = await this.#waiters.wait(after, Math.min(SILENCE, left), stop);
          if (last === undefined) yield EMPTY_LINE;
          if (last === Infinity) throw this.#failure;
        }
      }
      yield EMPTY_LINE;
    } finally {
      if (--this.#followers === 0) this.#kept.clear();
    }
  }

  /** Apart from `follow`, which would hold what it looked at while its caller is slow. */
  #piece(after: number, sent: number): Buffer | undefined {
    return this.#kept.get(after)?.pieces[sent];
  }

  /** For those who have all that was read: calls a listener with the last position whenever more was, or with Infinity if that failed. */
  watch(listener: (last: number) => void): () => void {
    this.#told = listener;
    const end = this.#log.watch((newest) => {
      const isBehind = this.#last < this.#newest;
      this.#newest = newest;
      if (!this.#isTaking) void this.#take(isBehind ? 0 : GATHERING);
    });
    return () => {
      this.#told = undefined;
      end();
    };
  }

  /** Reads what is new, as long as somebody waits for it. */
  async #take(gathering: number): Promise<void> {
    this.#isTaking = true;
    try {
      if (gathering > 0) await delay(gathering);
      while (this.#told !== undefined && this.#last < this.#newest) {
        const after = this.#last;
        const lines = await this.#lines.next(after, this.#newest, () => undefined);
        this.#keep(after, lines);
        this.#last = lines.last;
        this.#told?.(lines.last);
      }
    } catch (error) {
      this.#failure = error;
      this.#told?.(Infinity);
    }
    this.#isTaking = false;
  }

  #keep(after: number, lines: Lines): void {
    this.#kept.set(after, lines);
    let bytes = 0;
    for (const [position, { pieces }] of [...this.#kept].reverse()) {
      if (bytes > KEPT_BYTES) this.#kept.delete(position);
      for (const { length } of pieces) bytes += length;
    }
  }
}
