import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { BINDINGS, callOperation, eventsOf } from '../support/bindings';
import { startProcess, type ServiceProcess } from '../support/process';
import { useSharedFolder } from '../support/temporary-folder';
import { itUnless, missingPrograms } from '../support/tools';
import { CLIENTS } from './clients';
import { ALLOWED, ENVIRONMENT, missingFor } from './toolchain';

const ROOT = join(__dirname, '..', '..');
const EXAMPLES = readdirSync(join(ROOT, 'examples'));
/** What the examples need that are no clients of `?WSDL`. */
const PROGRAMS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'dotnet-http': { dotnet: 'dotnet-sdk-10.0' },
  powershell: { pwsh: 'powershell, or dotnet tool install' },
};
const KEY = 'key-for-everything-01';
const ADDRESS = 'http://127.0.0.1:8080/webhooks/Services/WebHooks.asmx';

const page = readFileSync(join(ROOT, 'docs', 'clients.md'), 'utf8');

describe('docs/clients.md', () => {
  it.each(CLIENTS)('says over which bindings $name calls', ({ name, checks }) => {
    const bindings = BINDINGS.filter((binding) => checks[binding]?.includes('HelloWorld'));
    const words: Readonly<Record<number, string>> = { 1: 'SOAP 1.1', 2: 'SOAP', 4: 'all four' };
    expect(page.split(`\n- [${name}](`)[1]?.split('\n')[0]).toMatch(new RegExp(`, ${words[bindings.length] ?? ''}$`));
  });

  it('links to every example', () => {
    expect(EXAMPLES.filter((folder) => !page.includes(`(../examples/${folder}/`))).toEqual([]);
  });
});

describe('the example', () => {
  const folder = useSharedFolder();
  let service: ServiceProcess;
  beforeAll(async () => {
    service = await startProcess({ RECORD_KEYS: KEY, READ_KEYS: KEY }, folder.path);
  });
  afterAll(() => service.end('SIGTERM'));

  /** Copies an example, and writes the address and the key of the service in it. */
  const copied = async (example: string): Promise<string> => {
    const copy = join(folder.path, example);
    await cp(join(ROOT, 'examples', example), copy, { recursive: true });
    for (const file of await readdir(copy)) {
      const text = await readFile(join(copy, file), 'utf8');
      const written = text.replaceAll(ADDRESS, service.url).replaceAll('YOUR-KEY', KEY).replaceAll('30s', '1s');
      await writeFile(join(copy, file), written);
    }
    await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    return copy;
  };

  /** Runs an example, which has to print the id of the event that it records. */
  const expectToRun = async (example: string) => {
    // The packages of the system's Python, not those of another one.
    const env = { ...ENVIRONMENT, PATH: `/usr/bin${delimiter}${process.env.PATH ?? ''}` };
    const options = { cwd: await copied(example), env, timeout: ALLOWED, maxBuffer: 64 * 1024 * 1024 };
    const { stdout } = await promisify(execFile)('bash', ['run.sh'], options);
    const events = await callOperation(service.url, 'httpget', 'GetEvents', '', { 'X-API-Key': KEY });
    const { id } = eventsOf(events).at(-1) ?? { id: 'none' };
    // As what RecordEvent returned, and in a page.
    expect(stdout.split(id).length).toBeGreaterThan(2);
  };
  for (const example of EXAMPLES) {
    const client = CLIENTS.find(({ folder }) => folder === example);
    const missing = client ? missingFor(client) : missingPrograms(PROGRAMS[example] ?? {});
    itUnless(missing, `${example} records, pages and waits, with a key`, () => expectToRun(example), ALLOWED);
  }
});
