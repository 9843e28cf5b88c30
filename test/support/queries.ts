import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const DOCS = join(__dirname, '..', '..', 'docs');

/** The file of the alerts for Prometheus. */
export const RULES = join(DOCS, 'prometheus-rules.yml');

/** A query in PromQL, and where it stands. */
export interface Query {
  /** The title of the panel, or the name of the alert. */
  readonly name: string;
  readonly expression: string;
  /** The text around it that names labels: legends and annotations. */
  readonly text: string;
}

/** The queries of docs/prometheus-rules.yml, each on one line there. */
export async function ruleQueries(): Promise<Query[]> {
  const rules = (await readFile(RULES, 'utf8')).split(/^ +- alert: /m).slice(1);
  return rules.map((rule) => {
    const [name = ''] = rule.split('\n');
    const expression = /^ +expr: ([^|>].*)$/m.exec(rule)?.[1] ?? '';
    return { name, expression, text: rule.slice(rule.indexOf('annotations:')) };
  });
}

interface Dashboard {
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}

/** Reads docs/grafana-dashboard.json. */
export async function dashboard(): Promise<Dashboard> {
  return JSON.parse(await readFile(join(DOCS, 'grafana-dashboard.json'), 'utf8')) as Dashboard;
}

/** The queries of docs/grafana-dashboard.json, with values for its variables. */
export async function dashboardQueries(): Promise<Query[]> {
  const { panels } = await dashboard();
  return panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat }) => ({
      name: title,
      expression: expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '5m'),
      text: legendFormat,
    })),
  );
}
