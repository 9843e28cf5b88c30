const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Spans of time, in milliseconds, and how many of the last ones are counted. */
export const COUNTED_SPANS = {
  minute: { span: MINUTE, spans: 60 },
  hour: { span: HOUR, spans: 48 },
  day: { span: 24 * HOUR, spans: 30 },
} as const;

export type CountedSpan = keyof typeof COUNTED_SPANS;

/** How many calls were refused or failed in a span. */
export interface RefusalCount {
  readonly per: CountedSpan;
  /** When it begins, in milliseconds since 1970-01-01T00:00Z: a whole minute, hour or day in UTC. */
  readonly from: number;
  readonly calls: number;
}

const SPANS = Object.keys(COUNTED_SPANS) as CountedSpan[];

/** Counts all refused and failed calls, also those that are no longer remembered, in 138 numbers at most. */
export class RefusalCounts {
  readonly #counts: Readonly<Record<CountedSpan, Map<number, number>>> = {
    minute: new Map(),
    hour: new Map(),
    day: new Map(),
  };

  add(time: number): void {
    for (const per of SPANS) {
      const { span } = COUNTED_SPANS[per];
      this.#add(per, Math.floor(time / span) * span, 1);
    }
  }

  #add(per: CountedSpan, from: number, calls: number): void {
    const counts = this.#counts[per];
    counts.set(from, (counts.get(from) ?? 0) + calls);
    if (counts.size > COUNTED_SPANS[per].spans) counts.delete(Math.min(...counts.keys()));
  }

  /** Adds what other processes counted. */
  merge(counts: readonly RefusalCount[]): void {
    for (const { per, from, calls } of counts) this.#add(per, from, calls);
  }

  /** The spans in which there was any. */
  list(): readonly RefusalCount[] {
    return SPANS.flatMap((per) => [...this.#counts[per]].map(([from, calls]) => ({ per, from, calls })));
  }
}

/** Counts the calls of a span that begins at a time. */
export function callsIn(counts: readonly RefusalCount[], per: CountedSpan, from: number): number {
  return counts.find((count) => count.per === per && count.from === from)?.calls ?? 0;
}

/** Counts the calls of the last 60 minutes, this one among them. */
export function callsOfLastHour(counts: readonly RefusalCount[], now: number): number {
  return counts
    .filter(({ per, from }) => per === 'minute' && from > now - HOUR)
    .reduce((sum, { calls }) => sum + calls, 0);
}
