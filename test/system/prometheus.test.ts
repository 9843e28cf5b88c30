import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { dashboardQueries, ruleQueries, RULES } from '../support/queries';
import { useTemporaryFolder } from '../support/temporary-folder';
import { describeWith } from '../support/tools';

const promtool = (...args: string[]) => promisify(execFile)('promtool', args);

/** Series with which each alert fires, and others with which none does. */
const CASES = join(__dirname, '..', 'fixtures', 'prometheus-rules-test.yml');

describeWith({ promtool: 'prometheus' }, 'promtool', () => {
  const folder = useTemporaryFolder();

  it('accepts the alerts', async () => {
    const { stdout } = await promtool('check', 'rules', RULES);
    expect(stdout).toContain(`SUCCESS: ${String((await ruleQueries()).length)} rules found`);
  });

  it('sees each alert fire when it should, and only then', async () => {
    expect((await promtool('test', 'rules', CASES)).stdout).toContain('SUCCESS');
    const cases = await readFile(CASES, 'utf8');
    for (const { name } of await ruleQueries()) {
      expect(cases).toMatch(new RegExp(`alertname: ${name}\\n +exp_alerts:\\n`));
      expect(cases).toMatch(new RegExp(`alertname: ${name}, exp_alerts: \\[\\] `));
    }
  });

  it('accepts the queries of the dashboard', async () => {
    const queries = await dashboardQueries();
    const rules = queries.map(({ expression }, i) => ({ record: `panel:${String(i)}`, expr: expression }));
    const file = join(folder.path, 'panels.yml');
    await writeFile(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
    expect((await promtool('check', 'rules', file)).stdout).toContain(`SUCCESS: ${String(queries.length)} rules found`);
  });
});
