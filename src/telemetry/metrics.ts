import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Refusal } from './request-error';

/** How a call ended: with a result, refused because of what it was, or failed although it was right. */
export type Outcome = 'ok' | 'refused' | 'failed';

/** What the metrics ask for when somebody reads them. */
export interface MeasuredState {
  /** Calls that are being worked on. */
  readonly inFlight: () => number;
  /** Connections that are open. */
  readonly connections: () => number;
  /** Whether the service can do its work. */
  readonly isReady: () => Promise<boolean>;
  /** Events in the log. */
  readonly events: () => Promise<number>;
  /** Bytes that the log takes where it is kept. */
  readonly bytes: () => Promise<number>;
}

/** From a commit on a fast disk (250 µs) to one that waited for another program (seconds). */
const SECONDS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A log that does not answer must not keep an operator from the other figures; in milliseconds. */
const STATE_TIMEOUT = 1500;

/** The metrics of one service (https://prometheus.io/docs/instrumenting/exposition_formats). */
export class Metrics {
  readonly registry = new Registry();
  readonly #durations: Histogram;
  readonly #calls = new Map<string, { observe(seconds: number): void }>();
  readonly #refusals: Counter;
  readonly #recorded: Counter;
  readonly #duplicates: Counter;
  readonly #commitSeconds: Histogram;
  readonly #commitEvents: Histogram;

  constructor(state: MeasuredState) {
    const registers = [this.registry];
    this.#durations = new Histogram({
      name: 'webhook_call_duration_seconds',
      help: 'Calls of operations, from the header to the reply; _count is the number of calls',
      labelNames: ['binding', 'operation', 'outcome'],
      buckets: SECONDS,
      registers,
    });
    this.#refusals = new Counter({
      name: 'webhook_refusals_total',
      help: 'Requests and connections that were refused',
      labelNames: ['reason'],
      registers,
    });
    this.#recorded = new Counter({ name: 'webhook_events_recorded_total', help: 'Events recorded', registers });
    this.#duplicates = new Counter({
      name: 'webhook_events_duplicate_total',
      help: 'Events that were in the log before',
      registers,
    });
    this.#commitSeconds = new Histogram({
      name: 'webhook_commit_duration_seconds',
      help: 'Time until the events of one commit were durable',
      buckets: SECONDS,
      registers,
    });
    this.#commitEvents = new Histogram({
      name: 'webhook_commit_events',
      help: 'Events that shared one commit',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
      registers,
    });
    gauge('webhook_calls_in_flight', 'Calls that are being worked on', state.inFlight, registers);
    gauge('webhook_connections', 'Open connections', state.connections, registers);
    gauge('webhook_ready', '1 while the service can do its work, as /readyz says', state.isReady, registers, 'min');
    gauge('webhook_log_events', 'Events in the log', state.events, registers, 'max');
    gauge('webhook_log_bytes', 'Bytes that the log takes', state.bytes, registers, 'max');
  }

  /** A call ended, so many milliseconds after its header was there. Every argument has few values. */
  call(binding: string, operation: string, outcome: Outcome, milliseconds: number): void {
    const key = `${binding} ${operation} ${outcome}`;
    let bound = this.#calls.get(key);
    if (bound === undefined) {
      bound = this.#durations.labels(binding, operation, outcome);
      this.#calls.set(key, bound);
    }
    bound.observe(milliseconds / 1000);
  }

  refusal(reason: Refusal): void {
    this.#refusals.inc({ reason });
  }

  /** A commit of the log went well. */
  commit(commit: { readonly events: number; readonly recorded: number; readonly milliseconds: number }): void {
    this.#recorded.inc(commit.recorded);
    this.#duplicates.inc(commit.events - commit.recorded);
    this.#commitSeconds.observe(commit.milliseconds / 1000);
    this.#commitEvents.observe(commit.events);
  }
}

/**
 * A gauge that is read when it is asked for; what cannot be read in time keeps its last value. `aggregator` makes one value
 * of those of several workers.
 */
function gauge(
  name: string,
  help: string,
  read: () => number | boolean | Promise<number | boolean>,
  registers: Registry[],
  aggregator: 'sum' | 'min' | 'max' = 'sum',
): void {
  new Gauge({
    name,
    help,
    registers,
    aggregator,
    async collect() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<undefined>((resolve) => {
        timer = setTimeout(resolve, STATE_TIMEOUT, undefined);
      });
      try {
        const value = await Promise.race([read(), late]);
        if (value !== undefined) this.set(Number(value));
      } catch {
        // The state is unknown; /readyz and the log lines say why.
      } finally {
        clearTimeout(timer);
      }
    },
  });
}
