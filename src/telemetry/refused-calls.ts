import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Sender } from '../senders/sender';
import type { RequestError } from '../http/errors';
import { Secrets } from '../util/secrets';
import { detached, shortened } from '../util/text';

/** A call, request or connection that was refused, or a call that failed. What is missing was not known yet. */
export interface RefusedCall {
  /** Unique, also among several processes. */
  readonly id: string;
  /** When it was refused, in milliseconds since 1970-01-01T00:00Z. */
  readonly time: number;
  readonly remoteAddress: string | undefined;
  readonly binding?: string | undefined;
  readonly operation?: string | undefined;
  readonly method?: string | undefined;
  /** Without the query, which may be confidential. */
  readonly path?: string | undefined;
  /** HTTP status of the answer, if there was one. */
  readonly status: number | undefined;
  /** Why it was refused, in one word; undefined for a valid call that failed. */
  readonly refusal?: RequestError['category'] | undefined;
  /** Why, as a sentence. */
  readonly reason: string;
  readonly requestId?: string | undefined;
  /** The known sender whose header fields it has, which prove nothing. */
  readonly sender?: string | undefined;
  /** Names in lower case; without those that may hold a secret. */
  readonly headers?: readonly (readonly [name: string, value: string])[] | undefined;
}

/** The refused and failed calls of one process or of several. Processes send it to each other. */
export interface Refusals {
  /** The last ones, newest first. */
  readonly calls: readonly RefusedCall[];
  /** How many there were in each of the last minutes, by its number since 1970-01-01T00:00Z. */
  readonly perMinute: ReadonlyMap<number, number>;
}

const MINUTE = 60_000;

/** For how many minutes calls are counted. */
const MINUTES = 60;

/** How many calls are remembered: the last ones, and some of each reason. */
const MAX_REFUSED_CALLS = 100;

/** Most header fields that are remembered of a call. */
const MAX_KEPT_FIELDS = 32;

/** Maximum characters that are kept of a reason. */
const MAX_REASON = 500;

/** Remembers 100 refused and failed calls, in 3 MB at most, and counts those of the last hour. */
export class RefusedCalls {
  readonly #byReason = new Map<RefusedCall['refusal'], RefusedCall[]>();
  readonly #perMinute = new Map<number, number>();
  readonly #prefix = randomBytes(6).toString('hex');
  #size = 0;
  #added = 0;

  /** @param cut - returns a text without secrets. */
  constructor(private readonly cut = new Secrets().cut) {}

  /** Returns the refusals of several processes as if one had refused them. */
  static merged(all: readonly Refusals[]): Refusals {
    const merged = new RefusedCalls();
    for (const { perMinute } of all) for (const [minute, calls] of perMinute) merged.#count(minute, calls);
    for (const call of all.flatMap(({ calls }) => calls).sort((a, b) => a.time - b.time)) merged.#remember(call);
    return merged.list();
  }

  add(call: Omit<RefusedCall, 'id'>, request?: Pick<IncomingMessage, 'method' | 'headers'>): void {
    const { time, remoteAddress, binding, operation, path, status, refusal, reason, requestId } = call;
    this.#count(Math.floor(time / MINUTE), 1);
    this.#remember({
      // Spreading the call takes ten times as long as the rest.
      time,
      id: `${this.#prefix}-${String(this.#added++)}`,
      remoteAddress: remoteAddress && this.#kept(remoteAddress),
      binding,
      operation: operation && this.#kept(operation),
      path: path && this.#kept(path),
      status,
      refusal,
      reason: detached(shortened(this.cut(reason), MAX_REASON)),
      requestId: requestId && this.#kept(requestId),
      method: request?.method,
      sender: request && Sender.of(request.headers)?.name,
      headers: request && this.#keptFields(request.headers),
    });
  }

  list(): Refusals {
    const calls = [...this.#byReason.values()].flatMap((same) => same.toReversed()).sort((a, b) => b.time - a.time);
    return { calls, perMinute: new Map(this.#perMinute) };
  }

  #count(minute: number, calls: number): void {
    const counts = this.#perMinute;
    counts.set(minute, (counts.get(minute) ?? 0) + calls);
    if (counts.size > MINUTES) counts.delete(Math.min(...counts.keys()));
  }

  /** Forgets the oldest call with the most frequent reason first: a flood for one reason leaves calls with other reasons. */
  #remember(call: RefusedCall): void {
    const same = this.#byReason.get(call.refusal);
    if (same === undefined) this.#byReason.set(call.refusal, [call]);
    else same.push(call);
    if (++this.#size <= MAX_REFUSED_CALLS) return;
    let most: RefusedCall[] = [];
    for (const calls of this.#byReason.values()) if (calls.length > most.length) most = calls;
    most.shift();
    this.#size--;
  }

  /** A shortened copy: a part of a request would keep all of it in memory. */
  #kept(text: string): string {
    return detached(shortened(this.cut(text)));
  }

  #keptFields(headers: IncomingMessage['headers']): RefusedCall['headers'] {
    const names = Object.keys(headers).filter((name) => !Secrets.mayBeIn(name));
    // Whole texts need no copy, which would take as long as the rest.
    const short = (text: string) => (shortened(this.cut(text)) === text ? text : this.#kept(text));
    return names.slice(0, MAX_KEPT_FIELDS).map((name) => [short(name), short(String(headers[name]))]);
  }
}
