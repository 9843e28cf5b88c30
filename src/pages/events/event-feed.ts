import { setTimeout as delay } from 'node:timers/promises';
import { ArchiveLine } from '../../events/archive-line';
import { StoredEvent } from '../../events/stored-event';
import { HTTP_ERRORS } from '../../http/errors';
import type { EventLog } from '../../log/event-log';
import { newestAfter } from '../../service/event-reader';
import { Semaphore } from '../../util/promises';

/** About how many bytes of events are read at a time, unless one has more. */
export const CHUNK = 24 * 1024;

/** Most characters that a caller is given at a time: TLS holds them a second time, encrypted, and twice as many bytes from 16 KiB on. */
const PIECE = 16_000;

/** About how many bytes of new lines are kept for followers that do not have them yet. */
const KEPT_BYTES = 8 * 1024 * 1024;

/** Counted for each kept chunk besides its text. */
const ENTRY_BYTES = 1024;

/** How long new events gather before followers get them, in milliseconds: one write for many. */
const GATHERING = 200;

/** After this time without an event an empty line shows that the connection lives, in milliseconds. */
const SILENCE = 2000;

export const EMPTY_LINE = Buffer.from('\n');

/** Makes room for a caller's next bytes, in place of those before. Throws if there is none, or the caller has gone. */
export type Reserve = (bytes: number) => void;

/** The lines of some events, in pieces with memory of their own, so that a slow caller holds one alone. */
interface Lines {
  /** The position up to which they were read. */
  readonly last: number;
  readonly count: number;
  readonly bytes: number;
  /** Undefined once they are dropped. */
  readonly pieces: (Buffer | undefined)[];
}

export function piecesOf(text: string, reserve: Reserve): Buffer[] {
  reserve(Buffer.byteLength(text));
  const pieces: Buffer[] = [];
  for (let start = 0, end: number; start < text.length; start = end) {
    end = start + PIECE;
    // Not between the two halves of a character.
    if ((text.charCodeAt(end) & 0xfc00) === 0xdc00) end++;
    pieces.push(Buffer.from(text.slice(start, end)));
  }
  return pieces;
}

/** Which events are read: those from a time on, and the first ones. */
type Selected = Readonly<{ since?: number | undefined; limit?: number }>;

/** The lines of the events in the log, and of new ones, which are read and written out once for all followers. */
export class EventFeed {
  readonly #large = new Semaphore(1);
  /** By the position after which they begin. Each ends where the next begins, or at `#last`. */
  readonly #kept = new Map<number, Lines>();
  #last = 0;
  /** The newest position when it was last asked for. */
  #newest = 0;
  #reading: Promise<void> | undefined;
  #followers = 0;

  constructor(private readonly log: EventLog) {}

  /** Reads the next events after one position and up to another: small ones together, a large one alone, once there is room for it. */
  async #next(after: number, until: number, reserve: Reserve, { since, limit = Infinity }: Selected): Promise<Lines> {
    const query = { after, before: until + 1, since, limit: Math.min(200, limit), maxBytes: CHUNK };
    const page = await this.log.read(query);
    const large = page.findIndex(({ dataOmitted }) => dataOmitted !== undefined);
    const { position = until, dataOmitted = 0 } = page[0] ?? {};
    if (large !== 0) return linesOf(large === -1 ? page : page.slice(0, large), until, reserve);
    return this.#large.run(async () => {
      reserve(dataOmitted);
      return linesOf(await this.log.read({ position, limit: 1 }), position, reserve);
    });
  }

  /** Reads all events after one position and up to another. */
  async *between(after: number, until: number, reserve: Reserve, selected: Selected = {}): AsyncGenerator<Buffer> {
    for (let left = selected.limit ?? Infinity; left > 0 && after < until;) {
      const { last, count, pieces } = await this.#next(after, until, reserve, { ...selected, limit: left });
      after = last;
      left -= count;
      for (let piece; (piece = pieces.shift()) !== undefined;) yield piece;
    }
    reserve(0);
  }

  /** The events after a position: those in the log, and new ones until a time, in that of `performance.now()`. */
  async *follow(start: number, until: number, reserve: Reserve, stop: AbortSignal): AsyncGenerator<Buffer> {
    // Lets the caller see the header.
    yield EMPTY_LINE;
    const newest = await this.log.newest();
    if (this.#followers++ === 0) this.#last = this.#newest = newest;
    try {
      for (let after = start; ;) {
        // What was recorded before this follower came may be forgotten by now: it is read anew.
        const lines = after < newest ? undefined : this.#kept.get(after);
        if (lines !== undefined) {
          for (const piece of lines.pieces) {
            // Its next request goes on after the last event that it has whole.
            if (piece === undefined) throw HTTP_ERRORS.tooSlow();
            yield piece;
          }
          after = lines.last;
        } else if (after < this.#last) {
          const next = [...this.#kept.keys()].find((position) => position > after) ?? this.#last;
          yield* this.between(after, next, reserve);
          after = next;
        } else {
          const left = after < newest ? SILENCE : until - performance.now();
          if (left <= 0) break;
          const found = await newestAfter(this.log, after, Math.min(SILENCE, left), stop);
          stop.throwIfAborted();
          if (found === undefined) yield EMPTY_LINE;
          else await (this.#reading ??= this.#read(found).finally(() => (this.#reading = undefined)));
        }
      }
      yield EMPTY_LINE;
    } finally {
      if (--this.#followers === 0) this.#drop(0);
    }
  }

  /** Reads what is new, up to a position or later ones. */
  async #read(found: number): Promise<void> {
    if (this.#last >= this.#newest) {
      await delay(GATHERING);
      this.#newest = Math.max(found, await this.log.newest());
    }
    const lines = await this.#next(this.#last, this.#newest, () => undefined, {});
    this.#drop(KEPT_BYTES);
    this.#kept.set(this.#last, lines);
    this.#last = lines.last;
  }

  /** Drops the oldest lines until at most `most` bytes are kept. */
  #drop(most: number): void {
    let left = most;
    for (const [after, { bytes, pieces }] of [...this.#kept].reverse()) {
      left -= bytes;
      if (left >= 0) continue;
      this.#kept.delete(after);
      pieces.fill(undefined);
    }
  }
}

function linesOf(events: readonly StoredEvent[], until: number, reserve: Reserve): Lines {
  const pieces = piecesOf(events.map((event) => `${ArchiveLine.of(event)}\n`).join(''), reserve);
  const bytes = pieces.reduce((sum, { length }) => sum + length, ENTRY_BYTES);
  return { last: events.at(-1)?.position ?? until, count: events.length, bytes, pieces };
}
