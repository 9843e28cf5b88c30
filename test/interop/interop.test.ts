import { join } from 'node:path';
import { BINDINGS, NAMESPACE, type BindingName } from '../support/bindings';
import { temporaryFolder } from '../support/temporary-folder';
import { describeUnless } from '../support/tools';
import { CALLS, CLIENTS, EXTENDED, type Check, type Client } from './clients';
import { expectCheck } from './expectations';
import { startLane, type Lane } from './lane';
import { missingFor, runClient, type Transcript } from './toolchain';

/** How many clients are made and run at the same time; the compilers among them want a core each. */
const SIDE_BY_SIDE = 2;

const plan = CLIENTS.map((client) => ({ client, missing: missingFor(client) }));
const transcripts = new Map<Client, Transcript>();
const passed = new Set<string>();
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let lanes: Lane[] = [];

beforeAll(async () => {
  folder = await temporaryFolder();
  const numbers = Array.from({ length: SIDE_BY_SIDE }, (_, i) => String(i + 1));
  lanes = await Promise.all(numbers.map((number) => startLane(join(folder.path, `lane${number}`))));
  const waiting = plan.filter(({ missing }) => missing === undefined).map(({ client }) => client);
  const work = async ({ url }: Lane): Promise<void> => {
    for (let client = waiting.shift(); client !== undefined; client = waiting.shift()) {
      transcripts.set(client, await runClient(client, url, join(folder.path, client.folder)));
    }
  };
  await Promise.all(lanes.map(work));
}, 600_000);

afterAll(async () => {
  process.stdout.write(`\n${table()}\n\nThe note over SOAP 1.1, as each client found it:\n${notes()}\n\n`);
  await Promise.all(lanes.map((lane) => lane.stop())).finally(() => folder.remove());
});

describe.each(plan)('$client.name', ({ client, missing }) => {
  describeUnless(missing, client.name, () => {
    for (const binding of BINDINGS) {
      const checks = client.checks[binding] ?? [];
      if (checks.length === 0) continue;
      it.each(checks)(`over ${binding}: %s`, (check) => {
        expectCheck(check, binding, client, transcripts.get(client), `${NAMESPACE}Unknown`);
        passed.add(`${client.name} ${binding} ${check}`);
      });
    }
  });
});

function table(): string {
  const rows = plan.map(({ client, missing }) => [
    client.name,
    missing === undefined ? (transcripts.get(client)?.version ?? '') : `missing: ${missing}`,
    ...BINDINGS.map((binding) => bindingCell(client, binding, missing !== undefined)),
    ...EXTENDED.map((check) => extendedCell(client, check, missing !== undefined)),
  ]);
  const titles = ['client', 'version', ...BINDINGS, ...EXTENDED];
  return [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function bindingCell(client: Client, binding: BindingName, skipped: boolean): string {
  const checks = client.checks[binding]?.filter((check) => !EXTENDED.includes(check));
  if (checks === undefined) return '–';
  if (skipped) return 'skipped';
  const failed = checks.filter((check) => !hasPassed(client, binding, check));
  if (failed.length > 0) return `FAILED: ${failed.join(', ')}`;
  return ['passed', ...checks.filter((check) => !CALLS.includes(check))].join(', ');
}

function extendedCell(client: Client, check: Check, skipped: boolean): string {
  if (client.noExtended !== undefined) return check === 'note' ? client.noExtended : '–';
  if (skipped) return 'skipped';
  const bindings = BINDINGS.filter((binding) => client.checks[binding]?.includes(check));
  const failed = bindings.filter((binding) => !hasPassed(client, binding, check));
  return failed.length > 0 ? `FAILED: ${failed.join(', ')}` : bindings.join(', ');
}

function hasPassed(client: Client, binding: BindingName, check: Check): boolean {
  return passed.has(`${client.name} ${binding} ${check}`);
}

function notes(): string {
  return [...transcripts]
    .map(([{ name }, { values }]) => [name, values.get('soap11 note')])
    .filter(([, note]) => note !== undefined)
    .map(([name, note]) => `${name ?? ''}: ${note ?? ''}`)
    .join('\n');
}
