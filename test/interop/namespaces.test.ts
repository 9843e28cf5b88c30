import { join } from 'node:path';
import { BINDINGS } from '../support/bindings';
import { temporaryFolder } from '../support/temporary-folder';
import { describeUnless } from '../support/tools';
import { CLIENTS } from './clients';
import { expectCheck } from './expectations';
import { startLane } from './lane';
import { missingFor, runClient, type Transcript } from './toolchain';

const PROXIES = CLIENTS.filter(({ folder }) => ['zeep', 'php', 'jax-ws'].includes(folder));

/** Proxies that were made from the WSDLs of a namespace that does not end with a slash. */
describe('under the namespace urn:shop:hooks', () => {
  const namespace = 'urn:shop:hooks';
  const transcripts = new Map<string, Transcript>();
  beforeAll(async () => {
    const folder = await temporaryFolder();
    const lane = await startLane(join(folder.path, 'lane'), { SERVICE_NAMESPACE: namespace });
    for (const client of PROXIES) {
      if (missingFor(client) !== undefined) continue;
      transcripts.set(client.name, await runClient(client, lane.url, join(folder.path, client.folder), namespace));
    }
    await lane.stop().finally(() => folder.remove());
  }, 600_000);

  describe.each(PROXIES)('$name', (client) => {
    describeUnless(missingFor(client), client.name, () => {
      const checks = BINDINGS.flatMap((binding) =>
        (client.checks[binding] ?? []).map((check) => [binding, check] as const),
      );
      it.each(checks)('over %s: %s', (binding, check) => {
        expectCheck(check, binding, client, transcripts.get(client.name), `${namespace}/Unknown`);
      });
    });
  });
});
