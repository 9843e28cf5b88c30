import type { Registry } from 'prom-client';

/** The figures of one worker, as `prom-client` aggregates them. */
export type Figures = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** What a worker sends to its supervisor. */
export type FromWorker =
  /** It is ready to answer at this absolute address of the endpoint. */
  | { readonly ready: string }
  /** Its figures: on request, and once more before it ends. */
  | { readonly figures: Figures };

/** What the supervisor sends to a worker: to end because another one has taken its place, or to send its figures. */
export type ToWorker = 'retire' | 'figures';
