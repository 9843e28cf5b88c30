import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made: string[] = [];
// A process that ends may still write into it.
const remove = (folder: string) => rm(folder, { recursive: true, force: true, maxRetries: 5 });

afterAll(() => Promise.all(made.map(remove)), 60_000);

/** Makes an empty folder, which is deleted after all tests of the file. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'webhook-'));
  made.push(folder);
  return folder;
}

/** Gives the tests of the surrounding `describe` an empty folder, which they share. */
export function useSharedFolder(): { readonly path: string } {
  const folder = { path: '' };
  beforeAll(async () => {
    folder.path = await temporaryFolder();
  });
  return folder;
}

/** Gives each test of the surrounding `describe` an empty folder of its own. */
export function useTemporaryFolder(): { readonly path: string } {
  let folder: string | undefined;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder && remove(folder));
  return {
    get path() {
      if (folder === undefined) throw new Error('there is a folder only while a test runs');
      return folder;
    },
  };
}
