import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Sender } from '../senders/sender';
import type { Refusal } from '../http/errors';
import { detached, mayBeSecret, shortened } from '../util/text';

/** A call, request or connection that was refused, or a call that failed. What is missing was not known yet. */
export interface RefusedCall {
  /** When it was refused, in milliseconds since 1970-01-01T00:00Z. */
  readonly time: number;
  /** The caller's network address. */
  readonly remoteAddress: string | undefined;
  readonly binding?: string | undefined;
  readonly operation?: string | undefined;
  /** Without the query, which may be confidential. */
  readonly path?: string | undefined;
  /** HTTP status of the answer, if there was one. */
  readonly status: number | undefined;
  /** Why it was refused, in one word; undefined for a valid call that failed. */
  readonly refusal?: Refusal | undefined;
  /** Why, as a sentence. */
  readonly reason: string;
  readonly requestId?: string | undefined;
}

/** A refused call, as it is remembered. A worker of another build may omit optional members. */
interface KeptCall extends RefusedCall {
  /** Differs from that of any other call, also of another process. */
  readonly id: string;
  /** HTTP method. */
  readonly method?: string | undefined;
  /** The known sender whose header fields it has, which prove nothing. */
  readonly sender?: string | undefined;
  /** Names in lower case; without those that may hold a secret. */
  readonly headers?: readonly (readonly [name: string, value: string])[] | undefined;
  readonly body?: KeptBody | undefined;
}

/** The part of a body that had been read when its call was refused. */
export interface ReadBody {
  /** At least its first {@link Refusals.bodyBytes}, unless it is shorter. */
  readonly start: Buffer;
  /** The size of the body. */
  readonly bytes: number;
}

/** The remembered part of a body. */
interface KeptBody {
  /** At most its first {@link Refusals.bodyBytes}, each byte as a character (ISO 8859-1), without the header of a SOAP message. */
  readonly start: string;
  /** The size of the body. */
  readonly bytes: number;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** The refused and failed calls of one process or of several, at one time. */
export class Refusals {
  /** Spans of time, in milliseconds, and for how many of the last ones calls are counted. */
  static readonly spans = {
    minute: { span: MINUTE, spans: 60 },
    hour: { span: HOUR, spans: 48 },
    day: { span: 24 * HOUR, spans: 30 },
  } as const;

  /** Most bytes that are remembered of a body. */
  static readonly bodyBytes = 4096;

  /** @param calls - newest first. */
  constructor(
    readonly calls: readonly KeptCall[],
    readonly counts: readonly RefusalCount[],
  ) {}

  /** The refusals of several processes as if one had refused them. */
  static merged(all: readonly Refusals[]): Refusals {
    const counts = new RefusalCounts();
    for (const one of all) counts.merge(one.counts);
    const calls = new LastCalls();
    for (const call of all.flatMap((one) => one.calls).sort((a, b) => a.time - b.time)) calls.add(call);
    return new Refusals(calls.list(), counts.list());
  }

  /** The number of calls in the span that begins at this time. */
  callsIn(per: CountedSpan, from: number): number {
    return this.counts.find((count) => count.per === per && count.from === from)?.calls ?? 0;
  }

  /** The number of calls in the last 60 minutes, the current one among them. */
  callsOfLastHour(now: number): number {
    return this.counts
      .filter(({ per, from }) => per === 'minute' && from > now - HOUR && from <= now)
      .reduce((sum, { calls }) => sum + calls, 0);
  }
}

type CountedSpan = keyof typeof Refusals.spans;

/** How many of them are remembered: the last ones, and some of each reason. */
const MAX_REFUSED_CALLS = 100;

/** Most characters that are remembered of all header fields of a call, with what each counts beside its text. */
const MAX_HEADERS = 4096;
const FIELD_CHARACTERS = 32;

/** Most characters that are remembered of a reason; of the other texts it is what {@link shortened} leaves. */
const MAX_REASON = 500;

/** Remembers 100 refused and failed calls, in 2 MB at most, and counts all of them. */
export class RefusedCalls {
  readonly #calls = new LastCalls();
  readonly #counts = new RefusalCounts();
  readonly #prefix = randomBytes(6).toString('hex');
  #added = 0;

  add(call: RefusedCall, request?: Pick<IncomingMessage, 'method' | 'headers'>, body?: ReadBody): void {
    const { time, remoteAddress, binding, operation, path, status, refusal, reason, requestId } = call;
    this.#counts.add(time);
    this.#calls.add({
      // Spreading the call takes ten times as long as the rest.
      time,
      id: `${this.#prefix}-${String(this.#added++)}`,
      remoteAddress: kept(remoteAddress),
      binding: kept(binding),
      operation: kept(operation),
      path: kept(path),
      status,
      refusal,
      reason: detached(shortened(reason, MAX_REASON)),
      requestId: kept(requestId),
      method: request?.method,
      sender: request && Sender.of(request.headers)?.name,
      headers: request && keptHeaders(request.headers),
      body: body && keptBody(body),
    });
  }

  /** The remembered calls, and the number of all. */
  list(): Refusals {
    return new Refusals(this.#calls.list(), this.#counts.list());
  }
}

/** The last calls. It forgets the oldest with the most frequent reason first: a flood with one leaves the calls with others. */
class LastCalls {
  readonly #byReason = new Map<Refusal | undefined, KeptCall[]>();
  #size = 0;

  add(call: KeptCall): void {
    const same = this.#byReason.get(call.refusal);
    if (same === undefined) this.#byReason.set(call.refusal, [call]);
    else same.push(call);
    if (++this.#size <= MAX_REFUSED_CALLS) return;
    let most: KeptCall[] = [];
    for (const calls of this.#byReason.values()) if (calls.length > most.length) most = calls;
    most.shift();
    this.#size--;
  }

  /** Newest first. */
  list(): readonly KeptCall[] {
    return [...this.#byReason.values()].flatMap((calls) => calls.toReversed()).sort((a, b) => b.time - a.time);
  }
}

function kept(text: string | undefined): string | undefined {
  return text === undefined ? undefined : detached(shortened(text));
}

/** A shortened text that keeps no longer one. */
function short(text: string): string {
  const start = shortened(text);
  return start === text ? text : detached(start);
}

function keptHeaders(headers: IncomingMessage['headers']): KeptCall['headers'] {
  const fields: [string, string][] = [];
  let left = MAX_HEADERS;
  for (const name in headers) {
    if (mayBeSecret(name)) continue;
    const field: [string, string] = [short(name), short(String(headers[name]))];
    left -= field[0].length + field[1].length + FIELD_CHARACTERS;
    if (left < 0) break;
    fields.push(field);
  }
  return fields;
}

function keptBody({ start, bytes }: ReadBody): KeptBody {
  return { start: withoutSoapHeader(start.toString('latin1', 0, Refusals.bodyBytes)), bytes };
}

/** Where the header of a SOAP message begins, in which WS-Security puts a password, and where its body begins. */
const SOAP_HEADER = /<(?:[^\s<>:/]+:)?Header(?=[\s/>])/;
const SOAP_BODY = /(?<=^\s*\/>\s*|Header\s*>\s*)<(?:[^\s<>:/]+:)?Body[\s/>]/;

/** Comments, CDATA sections and processing instructions, in which what looks like a tag is none. */
const SECTIONS = /<!--[^]*?-->|<!\[CDATA\[[^]*?\]\]>|<\?[^]*?\?>/g;

/** How a message in UTF-7 begins, with `<` and perhaps a letter: in that no header can be found. */
const UTF_7 = /^\s*\+AD/;

/**
 * Leaves out the header of a SOAP message, and all after it if its end is not certain. One in UTF-16 or UTF-32 loses its zero
 * bytes as well.
 */
function withoutSoapHeader(text: string): string {
  const plain = text.includes('\0') ? text.replaceAll('\0', '') : text;
  if (UTF_7.test(plain)) return '...';
  const header = SOAP_HEADER.exec(plain);
  if (header === null) return text;
  const name = plain.slice(0, header.index + header[0].length);
  const rest = plain.slice(name.length);
  const body = rest.search(SOAP_BODY);
  const isSure = body !== -1 && !/<[!?]/.test((name + rest.slice(0, body)).replace(SECTIONS, ''));
  return `${name}>...${isSure ? rest.slice(body) : ''}`;
}

/** How many calls were refused or failed in a span. */
interface RefusalCount {
  readonly per: CountedSpan;
  /** When it begins, in milliseconds since 1970-01-01T00:00Z: a whole minute, hour or day in UTC. */
  readonly from: number;
  readonly calls: number;
}

const SPANS = Object.keys(Refusals.spans) as CountedSpan[];

/** Counts all refused and failed calls, also those that are no longer remembered, in 138 numbers at most. */
export class RefusalCounts {
  readonly #counts: Readonly<Record<CountedSpan, Map<number, number>>> = {
    minute: new Map(),
    hour: new Map(),
    day: new Map(),
  };
  #last = 0;

  add(time: number): void {
    for (const per of SPANS) {
      const { span } = Refusals.spans[per];
      const from = Math.floor(time / span) * span;
      // Counted by a clock that was ahead: those spans are still to come.
      if (time < this.#last)
        for (const later of this.#counts[per].keys()) if (later > from) this.#counts[per].delete(later);
      this.#add(per, from, 1);
    }
    this.#last = time;
  }

  #add(per: CountedSpan, from: number, calls: number): void {
    const counts = this.#counts[per];
    counts.set(from, (counts.get(from) ?? 0) + calls);
    if (counts.size > Refusals.spans[per].spans) counts.delete(Math.min(...counts.keys()));
  }

  /** Adds what other processes counted. */
  merge(counts: readonly RefusalCount[]): void {
    for (const { per, from, calls } of counts) this.#add(per, from, calls);
  }

  list(): readonly RefusalCount[] {
    return SPANS.flatMap((per) => [...this.#counts[per]].map(([from, calls]) => ({ per, from, calls })));
  }
}
