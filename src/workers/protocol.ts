import type { Registry } from 'prom-client';
import type { Writer } from '../log/engine';
import type { Refusals } from '../telemetry/refused-calls';

// What a worker and its supervisor ask each other, with `Remote`. A change needs the next `PROTOCOL`, unless the parts of it are
// optional: one build may be that of the supervisor, another that of its workers.

/** The figures of one worker, as `prom-client` aggregates them. */
export type Figures = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** Counts and refusals of a worker. */
export interface Report {
  readonly figures: Figures;
  readonly refusals: Refusals['calls'];
  /** Undefined from a worker of a build that does not count them. */
  readonly refusalCounts?: Refusals['counts'];
}

/** The functions of a worker. */
export interface WorkerFunctions {
  report(): Promise<Report>;
  /** Another worker has taken its place: it ends. */
  retire(): void;
}

/** The functions of a supervisor for each of its workers. */
export interface SupervisorFunctions extends Writer {
  /** The worker answers at this absolute address of the endpoint. */
  ready(url: string): void;
  /** Takes the report of a worker that ends. */
  leave(report: Report): void;
  /** The refused calls of all workers. */
  refusals(): Promise<Refusals>;
}
