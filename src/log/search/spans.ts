import type { RatesQuery } from '../event-log';

/** When a span begins, counted from the oldest, which is 0; for the one after the last, when that ends. */
export function spanStart({ until, span, spans }: RatesQuery, i: number): number {
  return until - (spans - i) * span;
}
