import type { Registry } from 'prom-client';
import type { RefusedCall } from '../telemetry/refused-calls';

/** The figures of one worker, as `prom-client` aggregates them. */
export type Figures = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** What a worker sends to its supervisor. */
export type FromWorker =
  /** It is ready to answer at this absolute address of the endpoint. */
  | { readonly ready: string }
  /** Its figures: on request, and once more before it ends. */
  | { readonly figures: Figures }
  /** Its refused calls: on request, and once more before it ends. */
  | { readonly refusals: readonly RefusedCall[] }
  /** It wants the refused calls of all workers. */
  | 'refusals of all';

/** What the supervisor sends to a worker. */
export type ToWorker =
  /** To end, because another one has taken its place. */
  | 'retire'
  /** To send its figures. */
  | 'figures'
  /** To send its refused calls. */
  | 'refusals'
  /** The refused calls of all workers. */
  | { readonly refusals: readonly RefusedCall[] };
