import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { BUILD } from '../util/program';
import { REFUSALS } from '../http/errors';
import { within } from '../util/promises';

/** How a call ended: with a result, refused for what it was, or failed although it was valid. */
export type CallOutcome = 'ok' | 'refused' | 'failed';

type Measure = () => number | Promise<number | boolean>;

/** Reads the values of the gauges below. */
type MeasuredState = Readonly<Record<'inFlight' | 'waiting' | 'connections' | 'events' | 'bytes' | 'isReady', Measure>>;

/** Bounds in seconds: from a commit on a fast disk (250 µs) to one that waited for another program (seconds). */
const SECONDS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** In milliseconds: a log that hangs must not hide the other figures. */
const STATE_TIMEOUT = 1500;

/** The metrics of a process (https://prometheus.io/docs/instrumenting/exposition_formats). */
export class Metrics {
  readonly registry = new Registry();
  readonly #registers = [this.registry];
  /** The calls of operations, each timed from its header to its end. */
  readonly calls = new CallDurations(this.registry);
  readonly refusals = this.#counter('webhook_refusals_total', 'Requests and connections refused', ['reason']);
  readonly retentionFailures = this.#counter(
    'webhook_retention_failures_total',
    'Steps of retention that failed; each is tried again within seconds',
  );
  readonly #recorded = this.#counter('webhook_events_recorded_total', 'Events recorded');
  readonly #duplicates = this.#counter('webhook_events_duplicate_total', 'Events that were already in the log');
  readonly #commitSeconds = new Histogram({
    name: 'webhook_commit_duration_seconds',
    help: 'Time until the events of one commit were durable',
    buckets: SECONDS,
    registers: this.#registers,
  });
  readonly #commitEvents = new Histogram({
    name: 'webhook_commit_events',
    help: 'Events that shared one commit',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    registers: this.#registers,
  });

  /** @param state - of a process that answers calls. */
  constructor(state?: MeasuredState) {
    // A rate needs a series before the first refusal.
    for (const reason of REFUSALS) this.refusals.inc({ reason }, 0);
    if (state === undefined) return;
    const registers = this.#registers;
    new Gauge({
      name: 'webhook_build_info',
      help: 'Version and commit of the service; always 1',
      labelNames: ['version', 'commit'],
      registers,
      aggregator: 'max',
    }).set({ version: BUILD.version, commit: BUILD.commit }, 1);
    /** Adds a gauge that keeps its last value if reading it fails; `aggregator` joins the values of workers. */
    const gauge = (name: string, help: string, read: Measure, aggregator: 'sum' | 'min' | 'max' = 'sum') =>
      new Gauge({
        name,
        help,
        registers,
        aggregator,
        async collect() {
          const value = within(Promise.resolve().then(read), STATE_TIMEOUT, () => new Error('too late'));
          // Where the state is unknown, /readyz and the log lines say why.
          await value.then((known) => this.set(Number(known))).catch(() => undefined);
        },
      });
    gauge('webhook_calls_in_flight', 'Calls in progress', state.inFlight);
    gauge('webhook_calls_waiting', 'Calls that wait for events', state.waiting);
    gauge('webhook_connections', 'Open connections', state.connections);
    gauge('webhook_ready', '1 while the service can take events, as /readyz says, otherwise 0', state.isReady, 'min');
    gauge('webhook_log_events', 'Events in the log', state.events, 'max');
    gauge('webhook_log_bytes', 'Bytes that the log takes up', state.bytes, 'max');
  }

  readonly commit = (commit: { readonly events: number; readonly recorded: number; readonly milliseconds: number }) => {
    this.#recorded.inc(commit.recorded);
    this.#duplicates.inc(commit.events - commit.recorded);
    this.#commitSeconds.observe(commit.milliseconds / 1000);
    this.#commitEvents.observe(commit.events);
  };

  #counter(name: string, help: string, labelNames: readonly string[] = []): Counter {
    return new Counter({ name, help, labelNames, registers: this.#registers });
  }
}

/** The observations with the same labels. */
interface Series {
  readonly labels: Readonly<Record<'binding' | 'operation' | 'outcome', string>>;
  /** Observations in each bucket; not cumulative. */
  readonly counts: number[];
  sum: number;
}

/** Upper bounds of the buckets. */
const BOUNDS = [...SECONDS, '+Inf'];

/** In place of a `Histogram`, whose checks and labels take 0.5 to 1 µs, 2 to 6 % of a HelloWorld. Has what a registry reads. */
class CallDurations {
  readonly name = 'webhook_call_duration_seconds';
  /** Few: one for each binding, operation and outcome. */
  readonly #series: Series[] = [];

  constructor(registry: Registry) {
    registry.registerMetric(this as unknown as Histogram);
  }

  /** Counts a call. Each text has few values. */
  add(binding: string, operation: string, outcome: CallOutcome, seconds: number): void {
    let series = this.#series.find(
      ({ labels }) => labels.outcome === outcome && labels.operation === operation && labels.binding === binding,
    );
    if (series === undefined) {
      series = { labels: { binding, operation, outcome }, counts: BOUNDS.map(() => 0), sum: 0 };
      this.#series.push(series);
    }
    series.sum += seconds;
    let bucket = 0;
    while (seconds > (SECONDS[bucket] ?? Infinity)) bucket++;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
  }

  get() {
    const { name } = this;
    const help =
      'Time of calls of operations, from the header to the reply, without waiting for events; _count is the number of calls';
    const values = this.#series.flatMap(({ labels, counts, sum }) => {
      let count = 0;
      const buckets = BOUNDS.map((le, i) => ({
        labels: { le, ...labels },
        value: (count += counts[i] ?? 0),
        metricName: `${name}_bucket`,
      }));
      return [
        ...buckets,
        { labels, value: sum, metricName: `${name}_sum` },
        { labels, value: count, metricName: `${name}_count` },
      ];
    });
    return Promise.resolve({ name, help, type: 'histogram', aggregator: 'sum', values });
  }
}
