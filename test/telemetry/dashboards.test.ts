import { collectDefaultMetrics } from 'prom-client';
import { Reports } from '../../src/workers/reports';
import { idleMetrics } from '../support/metrics';
import { dashboard, dashboardQueries, ruleQueries, type Query } from '../support/queries';

/** What Prometheus adds to every series. */
const OF_PROMETHEUS = ['job', 'instance'];

const METRIC = /\b(?:webhook|nodejs|process)_\w+/g;

/** The labels of each metric, each with its values. */
type Known = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

/** The metrics of a service and of a supervisor after something of everything that queries look for has happened. */
async function knownMetrics(): Promise<Known> {
  const metrics = idleMetrics();
  collectDefaultMetrics({ register: metrics.registry });
  metrics.calls.add('soap11', 'RecordEvent', 'failed', 0.005);
  metrics.refusals.inc({ reason: 'busy' });
  const known = new Map<string, Map<string, Set<string>>>();
  const text = `${await metrics.registry.metrics()}\n${await new Reports().metrics()}`;
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? /gm)) {
    const values = known.get(name) ?? new Map<string, Set<string>>();
    for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="([^"]*)"/g))
      values.set(label, (values.get(label) ?? new Set()).add(value));
    known.set(name, values);
  }
  return known;
}

it('the dashboard and the alerts in docs name only metrics, labels and values that the service has', async () => {
  const known = await knownMetrics();
  const queries = [...(await ruleQueries()), ...(await dashboardQueries())];
  expect(queries.length).toBeGreaterThan(20);
  expect(queries.flatMap((query) => unknownIn(query, known))).toEqual([]);
  for (const { query } of (await dashboard()).templating.list.filter(({ name }) => name === 'instance'))
    expect(known.has(/\((\w+), instance\)/.exec(query)?.[1] ?? '')).toBe(true);
});

/** What a query names that does not exist. */
function unknownIn({ name, expression, text }: Query, known: Known): string[] {
  const metrics = expression.match(METRIC) ?? [];
  const unknown = metrics.filter((metric) => !known.has(metric));
  if (metrics.length === 0) unknown.push('no metric');
  const labels = new Set([...OF_PROMETHEUS, ...metrics.flatMap((metric) => [...(known.get(metric)?.keys() ?? [])])]);
  for (const [, metric = '', selectors = ''] of expression.matchAll(/(\w+)\{([^}]*)\}/g)) {
    for (const [, label = '', operator = '', value = ''] of selectors.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)) {
      if (OF_PROMETHEUS.includes(label)) continue;
      const values = known.get(metric)?.get(label);
      if (values === undefined || (operator === '=' && !values.has(value)))
        unknown.push(`${metric} ${label}="${value}"`);
    }
  }
  const grouped = [...expression.matchAll(/\b(?:by|on|without|ignoring) \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(/, */),
  );
  const shown = [...text.matchAll(/\$labels\.(\w+)|\{\{(\w+)\}\}/g)].map(([, one, other]) => one ?? other ?? '');
  unknown.push(...[...grouped, ...shown].filter((label) => !labels.has(label)));
  return unknown.map((what) => `${name}: ${what}`);
}
