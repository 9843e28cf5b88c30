import { join } from 'node:path';
import { BINDINGS, NAMESPACE } from '../support/bindings';
import { temporaryFolder } from '../support/temporary-folder';
import { describeUnless } from '../support/tools';
import { CLIENTS, type Client } from './clients';
import { expectCheck } from './expectations';
import { startLane, type Lane } from './lane';
import { missingFor, runClient, type Transcript } from './toolchain';

/** How many clients are made and run at the same time; the compilers among them want a core each. */
const SIDE_BY_SIDE = 2;

const plan = CLIENTS.map((client) => ({ client, missing: missingFor(client) }));
const transcripts = new Map<Client, Transcript>();
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
  await Promise.all(lanes.map((lane) => lane.stop())).finally(() => folder.remove());
});

describe.each(plan)('$client.name', ({ client, missing }) => {
  describeUnless(missing, client.name, () => {
    for (const binding of BINDINGS) {
      const checks = client.checks[binding] ?? [];
      if (checks.length === 0) continue;
      it.each(checks)(`over ${binding}: %s`, (check) => {
        expectCheck(check, binding, client, transcripts.get(client), `${NAMESPACE}Unknown`);
      });
    }
  });
});
