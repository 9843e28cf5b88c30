import type { Refusal } from '../http/errors';
import { detached, shortened } from '../util/text';

/** A call, request or connection that was refused, or a call that failed. Nothing in it is a payload or a query. */
export interface RefusedCall {
  /** When it was refused, in milliseconds since 1970-01-01T00:00Z. */
  readonly time: number;
  /** The caller's network address. */
  readonly remoteAddress: string | undefined;
  /** Undefined, as are those below: that was not known yet, or there was no request. */
  readonly binding: string | undefined;
  readonly operation: string | undefined;
  /** Without the query. */
  readonly path: string | undefined;
  /** HTTP status of the answer; undefined: there was none. */
  readonly status: number | undefined;
  /** Why it was refused, in one word; undefined: it failed although it was valid. */
  readonly refusal: Refusal | undefined;
  /** Why, as a sentence. */
  readonly reason: string;
  readonly requestId: string | undefined;
}

/** How many of them are remembered. */
export const MAX_REFUSED_CALLS = 100;

/** Most characters that are kept of a reason; of the other texts it is what {@link shortened} leaves. */
const MAX_REASON = 500;

/** Remembers the last 100 refused and failed calls, in some 300 KB at most. */
export class RefusedCalls {
  readonly #calls: RefusedCall[] = [];
  #next = 0;

  add(call: RefusedCall): void {
    const { remoteAddress, binding, operation, path, reason, requestId } = call;
    this.#calls[this.#next] = {
      ...call,
      remoteAddress: kept(remoteAddress),
      binding: kept(binding),
      operation: kept(operation),
      path: kept(path),
      reason: detached(shortened(reason, MAX_REASON)),
      requestId: kept(requestId),
    };
    this.#next = (this.#next + 1) % MAX_REFUSED_CALLS;
  }

  /** Those that are remembered, newest first. */
  list(): readonly RefusedCall[] {
    return [...this.#calls.slice(this.#next), ...this.#calls.slice(0, this.#next)].reverse();
  }
}

/** The newest of several lists, newest first. */
export function newestOf(lists: readonly (readonly RefusedCall[])[]): readonly RefusedCall[] {
  return lists
    .flat()
    .sort((a, b) => b.time - a.time)
    .slice(0, MAX_REFUSED_CALLS);
}

function kept(text: string | undefined): string | undefined {
  return text === undefined ? undefined : detached(shortened(text));
}
