import type { Registry } from 'prom-client';
import type { Refusals } from '../telemetry/refused-calls';

/** The figures of one worker, as `prom-client` aggregates them. */
export type Figures = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** What a worker has counted and refused. */
export interface Report {
  readonly figures: Figures;
  readonly refusals: Refusals['calls'];
  /** Undefined from a worker of a build that does not count them. */
  readonly refusalCounts?: Refusals['counts'];
}

/** What a worker sends to its supervisor. */
export type FromWorker =
  /** It is ready to answer at this absolute address of the endpoint. */
  | { readonly ready: string }
  /** On request, and once more before it ends. */
  | { readonly report: Report }
  /** It wants the refused calls of all workers. */
  | 'refusals of all'
  /** For the writer of the event log. */
  | { readonly log: unknown };

/** What the supervisor sends to a worker. */
export type ToWorker =
  /** To end, because another one has taken its place. */
  | 'retire'
  /** To send its report. */
  | 'report'
  /** The refused calls of all workers. */
  | Pick<Report, 'refusals' | 'refusalCounts'>
  /** From the writer of the event log. */
  | { readonly log: unknown };
