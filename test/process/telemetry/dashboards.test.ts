import { rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { BINDINGS, callOperation } from '../../support/bindings';
import { eventually } from '../../support/eventually';
import { send } from '../../support/http';
import { metricsAt } from '../../support/metrics';
import { startProcess } from '../../support/process';
import { dashboard, dashboardQueries, ruleQueries, type Query } from '../../support/queries';
import { openConnection } from '../../support/wire';
import { useTemporaryFolder } from '../../support/temporary-folder';

/** What Prometheus adds to every series. */
const OF_PROMETHEUS = ['job', 'instance'];

const METRIC = /\b(?:webhook|nodejs|process)_\w+/g;

/** The labels of each metric, each with its values. */
type Known = Map<string, Map<string, Set<string>>>;

describe('the dashboard and the alerts in docs', () => {
  const folder = useTemporaryFolder();

  /** The metrics of services where something of everything has happened. */
  async function knownMetrics(): Promise<Known> {
    const known: Known = new Map();
    const add = async (admin: unknown): Promise<void> => {
      for (const line of (await metricsAt(String(admin))).keys()) {
        const [, name = '', labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(line) ?? [];
        const values = known.get(name) ?? new Map<string, Set<string>>();
        for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="([^"]*)"/g)) {
          values.set(label, (values.get(label) ?? new Set()).add(value));
        }
        known.set(name, values);
      }
    };

    const one = await startProcess({ ADMIN_PORT: '0', MAX_CONNECTIONS: '1' }, folder.path);
    const { adminUrl } = await one.logged('started');
    // A connection counts until its caller has closed it, too.
    for (const binding of BINDINGS)
      await eventually(`a call over ${binding}`, () =>
        callOperation(one.url, binding, 'RecordEvent').then(
          () => true,
          () => false,
        ),
      );
    const held: Socket[] = [];
    await eventually('a connection is refused', async () => {
      held.push(await openConnection(one.url));
      return (await send(`${one.url}/RecordEvent`)).status === 503;
    });
    for (const socket of held) socket.destroy();
    // Without its file the log cannot take events.
    for (const ending of ['', '-wal', '-shm']) await rm(join(folder.path, 'data', `events.db${ending}`));
    const said = async () => (await send(`${one.url}/RecordEvent`).catch(() => undefined))?.body ?? '';
    await eventually('a call fails', async () => (await said()).startsWith('The event could not be recorded.'));
    await add(adminUrl);
    await one.end('SIGTERM');

    const several = await startProcess({ ADMIN_PORT: '0', WORKERS: '2' }, folder.path);
    await add((await several.logged('supervising')).adminUrl);
    await several.end('SIGTERM');
    return known;
  }

  it('name only metrics, labels and values that the service has', async () => {
    const known = await knownMetrics();
    const queries = [...(await ruleQueries()), ...(await dashboardQueries())];
    expect(queries.length).toBeGreaterThan(20);
    expect(queries.flatMap((query) => unknownIn(query, known))).toEqual([]);
    for (const { query } of (await dashboard()).templating.list.filter(({ name }) => name === 'instance')) {
      expect(known.has(/\((\w+), instance\)/.exec(query)?.[1] ?? '')).toBe(true);
    }
    // Four processes start, one after the other.
  }, 60_000);
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
