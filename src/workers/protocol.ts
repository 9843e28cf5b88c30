import type { Registry } from 'prom-client';
import type { Refusals } from '../telemetry/refused-calls';

// The questions of a worker and its supervisor to each other, with `Remote`. A change needs the next `PROTOCOL`, unless the parts of it are
// optional: one build may be that of the supervisor, another that of its workers.

/** The version of these questions. A worker of another version than its supervisor does not start. */
export const PROTOCOL = 12;

/** The figures of one worker, as `prom-client` aggregates them. */
export type Figures = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** Counts and refusals of a worker. */
export interface Report {
  readonly figures: Figures;
  readonly refusals: Refusals;
}

/** The report of a worker before anything has happened. */
export const NO_REPORT: Report = { figures: [], refusals: { calls: [], perMinute: new Map() } };

/** The functions of a worker. */
export interface WorkerFunctions {
  report(): Promise<Report>;
  /** Another worker has taken its place: it ends. */
  retire(): void;
}

/** The functions of a supervisor for each of its workers. */
export interface SupervisorFunctions {
  /** The worker answers at this absolute address of the endpoint. */
  ready(url: string): void;
  /** Takes the report of a worker that ends. */
  leave(report: Report): void;
  /** The refused calls of all workers. */
  refusals(): Promise<Refusals>;
}
