import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes an empty folder that `remove` deletes. */
export async function temporaryFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'webhook-'));
  // A process that ends may still write into it.
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/** Gives each test of the surrounding `describe` an empty folder of its own. */
export function useTemporaryFolder(): { readonly path: string } {
  let folder: Awaited<ReturnType<typeof temporaryFolder>> | undefined;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder?.remove());
  return {
    get path() {
      if (folder === undefined) throw new Error('there is a folder only while a test runs');
      return folder.path;
    },
  };
}
