import type { Statement } from './binding';
import type { Rate, RatesQuery } from '../event-log';
import { spanStart } from '../search/spans';
import type { SqliteConnection } from './connection/connection';
import { sliceDeadline } from './slice';
import type { Edge, SqliteTimes } from './times';

/** Most positions of a span whose events are counted one by one, and most late events of a span: a millisecond or two. */
const COUNTED_POSITIONS = 2000;
const COUNTED_LATE = 20_000;

const NOWHERE: Edge = { position: 0, bound: 0 };

/** How far the counting of `EventLog.rates` has come. It is handed on from slice to slice. */
export interface RatesProgress {
  readonly query: RatesQuery;
  /** Where the spans that are counted begin, oldest first, and where the last one ends; as many as are found. */
  readonly edges: readonly Edge[];
  /** Of the oldest spans, as many as are counted. */
  readonly rates: readonly Rate[];
}

/** Counts events by the time at which they were recorded, a slice of a few milliseconds at a time. */
export class SqliteRates {
  readonly #times: SqliteTimes;
  readonly #inOrder: Statement;
  readonly #late: Statement;

  constructor(connection: SqliteConnection, times: SqliteTimes) {
    this.#times = times;
    this.#inOrder = connection.prepare(
      `SELECT count(*) AS events FROM events
       WHERE sequence > ? AND sequence <= ? AND late_at IS NULL AND recorded_at >= ? AND recorded_at < ?`,
    );
    this.#late = connection.prepare(
      'SELECT count(*) AS events FROM (SELECT 1 FROM events WHERE late_at >= ? AND late_at < ? LIMIT ?)',
    );
  }

  /** Goes on until all spans are counted or the slice has taken its time. */
  slice({ query, edges, rates }: RatesProgress): RatesProgress {
    const deadline = sliceDeadline();
    const progress = { query, edges: [...edges], rates: [...rates] };
    while (progress.rates.length < query.spans && performance.now() < deadline) {
      if (progress.edges.length <= query.spans) {
        progress.edges.push(this.#times.edge(spanStart(query, progress.edges.length)));
      } else {
        progress.rates.push(this.#rate(progress, progress.rates.length));
      }
    }
    return progress;
  }

  #rate({ query, edges }: RatesProgress, i: number): Rate {
    const from = spanStart(query, i);
    const to = spanStart(query, i + 1);
    const [start, end] = [edges[i] ?? NOWHERE, edges[i + 1] ?? NOWHERE];
    const positions = Math.max(0, end.position - start.position);
    if (positions > COUNTED_POSITIONS) return { from, events: positions, exact: false };
    const inOrder = countOf(this.#inOrder.get(start.position, end.position, from, to));
    const late = countOf(this.#late.get(from, to, COUNTED_LATE));
    const isCertain = start.position === start.bound && end.position === end.bound && late < COUNTED_LATE;
    return { from, events: inOrder + late, exact: isCertain };
  }
}

function countOf(row: unknown): number {
  return (row as { events: number }).events;
}
