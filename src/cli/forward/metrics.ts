import { Counter, Gauge, Registry } from 'prom-client';
import type { Config, ListenAddress } from '../../config/config';
import { AdminPages } from '../../http/admin';
import { within } from '../../util/promises';
import { reasonOf } from '../../util/reason';
import type { ReadableLog } from '../../log/readable-log';
import type { ForwardProgress } from './progress';

/** Where the figures of a forwarder are served. */
export interface MetricsAddress extends ListenAddress {
  readonly limits: Config['limits'];
}

/** Answers until it is closed. */
export interface MetricsServer {
  readonly url: string;
  close(): Promise<void>;
}

/** How long a log may take to say how many events it has, in milliseconds: the other figures do not wait for it. */
const COUNT_TIMEOUT = 1000;

/**
 * Serves the figures of a forwarder at `/metrics`, and at `/readyz` why the target does not get its next event.
 *
 * @throws the port cannot be had; the message is one line.
 */
export async function serveMetrics(
  progress: ForwardProgress,
  log: Pick<ReadableLog, 'stats' | 'scan'>,
  { limits, ...address }: MetricsAddress,
): Promise<MetricsServer> {
  const check = () => {
    const { problem } = progress;
    return problem === undefined ? Promise.resolve() : Promise.reject(new Error(problem));
  };
  const pages = new AdminPages(check, metricsOf(progress, log));
  const { url, close } = await pages.listen(address, { limits }).catch((error: unknown) => {
    throw new Error(`--metrics-port ${String(address.port)} cannot be used: ${reasonOf(error)}.`);
  });
  return { url: `${url}metrics`, close };
}

function metricsOf(progress: ForwardProgress, log: Pick<ReadableLog, 'stats' | 'scan'>): Registry {
  // Questions that come meanwhile get the same answer: a service elsewhere may be away for long.
  let counting: Promise<number | undefined> | undefined;
  const behind = () => (counting ??= eventsAfter(progress.position, log).finally(() => (counting = undefined)));
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: string, help: string, valueOf: () => number | undefined | Promise<number | undefined>): void => {
    new Gauge({
      name,
      help,
      labelNames: ['target'],
      registers,
      async collect() {
        const value = await valueOf();
        if (value !== undefined) this.set({ target: progress.name }, value);
      },
    });
  };
  gauge(
    'webhook_forward_position',
    'Position in the log up to which events were forwarded or passed over',
    () => progress.position,
  );
  // Keeps its last value while the log does not answer.
  gauge('webhook_forward_events_behind', 'Events after that position', () =>
    within(behind(), COUNT_TIMEOUT, () => new Error('too late')).catch(() => undefined),
  );
  gauge(
    'webhook_forward_last_error_timestamp_seconds',
    'When an attempt did not deliver its event last, in seconds since 1970-01-01T00:00Z',
    () => progress.lastErrorAt && progress.lastErrorAt / 1000,
  );
  new Counter({
    name: 'webhook_forward_attempts_total',
    help: 'Attempts to post an event',
    labelNames: ['target', 'outcome'],
    registers,
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(progress.attempts))
        this.inc({ target: progress.name, outcome }, count);
    },
  });
  return registry;
}

async function eventsAfter(
  position: number | undefined,
  log: Pick<ReadableLog, 'stats' | 'scan'>,
): Promise<number | undefined> {
  if (position === undefined) return undefined;
  const { last } = await log.stats();
  // The last position may be that of a repetition or of a forgotten event.
  const isLeft = last > position && (await log.scan({ after: position, limit: 1 })).length > 0;
  return isLeft ? Math.max(0, last - position) : 0;
}
