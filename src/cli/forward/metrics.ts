import { Counter, Gauge, Registry } from 'prom-client';
import type { Config, ListenAddress } from '../../config/config';
import { AdminPages } from '../../http/admin';
import { within } from '../../util/promises';
import { reasonOf } from '../../util/reason';
import type { TargetProgress } from './progress';

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
 * Serves the figures of a forwarder's targets at `/metrics`, and at `/readyz` why a target does not get its next event.
 *
 * @throws the port cannot be had; the message is one line.
 */
export async function serveMetrics(
  targets: readonly TargetProgress[],
  { limits, ...address }: MetricsAddress,
): Promise<MetricsServer> {
  const check = () => {
    const problems = targets.flatMap(({ problem }) => problem ?? []);
    return problems.length === 0 ? Promise.resolve() : Promise.reject(new Error(problems.join('\n')));
  };
  const pages = new AdminPages(check, metricsOf(targets));
  const { url, close } = await pages.listen(address, { limits }).catch((error: unknown) => {
    throw new Error(`--metrics-port ${String(address.port)} cannot be used: ${reasonOf(error)}.`);
  });
  return { url: `${url}metrics`, close };
}

function metricsOf(targets: readonly TargetProgress[]): Registry {
  const registry = new Registry();
  const registers = [registry];
  const gauge = (
    name: string,
    help: string,
    valueOf: (target: TargetProgress) => number | undefined | Promise<number | undefined>,
  ): void => {
    new Gauge({
      name,
      help,
      labelNames: ['target'],
      registers,
      async collect() {
        const readings = targets.map(async (target) => {
          const value = await valueOf(target);
          if (value !== undefined) this.set({ target: target.name }, value);
        });
        await Promise.all(readings);
      },
    });
  };
  gauge(
    'webhook_forward_position',
    'Position in the log up to which events were forwarded or passed over',
    ({ position }) => position,
  );
  // Keeps its last value while the log does not answer.
  gauge('webhook_forward_events_behind', 'Events after that position', (target) =>
    within(target.behind(), COUNT_TIMEOUT, () => new Error('too late')).catch(() => undefined),
  );
  gauge(
    'webhook_forward_last_error_timestamp_seconds',
    'When an attempt did not deliver its event last, in seconds since 1970-01-01T00:00Z',
    ({ lastErrorAt }) => lastErrorAt && lastErrorAt / 1000,
  );
  new Counter({
    name: 'webhook_forward_attempts_total',
    help: 'Attempts to post an event',
    labelNames: ['target', 'outcome'],
    registers,
    collect() {
      this.reset();
      for (const { name, attempts } of targets)
        for (const [outcome, count] of Object.entries(attempts)) this.inc({ target: name, outcome }, count);
    },
  });
  return registry;
}
