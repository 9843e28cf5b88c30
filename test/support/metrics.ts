import { Metrics } from '../../src/telemetry/metrics';
import { send } from './http';
import type { TestService } from './service';

/** The value of a metric of a service in this process, all its labels together. */
export async function metricOf({ metrics }: Pick<TestService['app'], 'metrics'>, name: string): Promise<number> {
  const { values } = (await metrics.getSingleMetric(name)?.get()) ?? { values: [{ value: NaN }] };
  return values.reduce((sum, { value }) => sum + value, 0);
}

/** Reads `/metrics`; resolves to the value of each line, by its name and labels as written there. */
export async function metricsAt(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Map<string, number>> {
  const answer = await send(new URL('/metrics', url).href, { headers });
  if (answer.status !== 200) throw new Error(`${String(answer.status)}: ${answer.body}`);
  const lines = answer.body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

/** Returns the metrics of a service that has nothing to do, in which some may be measured in another way. */
export function idleMetrics(others: Partial<ConstructorParameters<typeof Metrics>[0]> = {}): Metrics {
  return new Metrics({
    inFlight: () => 0,
    waiting: () => 0,
    connections: () => 0,
    isReady: () => Promise.resolve(true),
    events: () => Promise.resolve(0),
    bytes: () => Promise.resolve(0),
    ...others,
  });
}
