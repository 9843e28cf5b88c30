import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { BINDINGS, callOperation, eventsOf } from '../support/bindings';
import { startProcess, type ServiceProcess } from '../support/process';
import { temporaryFolder } from '../support/temporary-folder';
import { describeUnless, missingPrograms } from '../support/tools';
import { CLIENTS, type Check, type Client } from './clients';
import { ENVIRONMENT, missingFor } from './toolchain';

const execute = promisify(execFile);
const ROOT = join(__dirname, '..', '..');
const KEY = 'key-for-everything-01';
const ADDRESS = 'http://127.0.0.1:8080/webhooks/Services/WebHooks.asmx';
/** Most milliseconds for making, building and running one program. */
const ALLOWED = 150_000;

const page = readFileSync(join(ROOT, 'docs', 'clients.md'), 'utf8');
const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
const sections = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map((text) => [text.slice(0, text.indexOf('\n')), text]),
);

/** What this machine lacks for each program of the page, by the title of its section. */
const MISSING: Readonly<Record<string, string | undefined>> = {
  '.NET Framework: Add Web Reference, `wsdl.exe`': missingOf('dotnet-framework'),
  '.NET: WCF': missingOf('wcf'),
  '.NET without a proxy: `HttpClient`': missingOf('dotnet-http'),
  PowerShell: missingPrograms({ pwsh: 'powershell, or dotnet tool install powershell' }),
  'Java: JAX-WS': missingOf('jax-ws'),
  'Java: Axis 1.4': missingOf('axis'),
  'Node: node-soap': missingOf('node-soap'),
  'Node: strong-soap': missingOf('strong-soap'),
  'Python: zeep': missingOf('zeep'),
  PHP: missingOf('php'),
  'Perl: SOAP::Lite': missingOf('soap-lite'),
  'C++: gSOAP': missingOf('gsoap'),
  curl: missingOf('curl'),
};

describe('docs/clients.md', () => {
  it.each(CLIENTS)('says over which bindings $name calls', (client) => {
    const [, , , over] = rows.find(([, name]) => name === client.name) ?? [];
    expect(over).toBe(bindingsOf(client, 'HelloWorld'));
  });

  it('has a program in each section about a client that runs here', () => {
    const withProgram = [...sections].filter(([, text]) => text.includes('```')).map(([title]) => title);
    expect(withProgram).toEqual(Object.keys(MISSING));
    for (const title of withProgram) expect(programOf(title).files).toHaveLength(1);
  });
});

describe('the programs of docs/clients.md', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: ServiceProcess;
  beforeAll(async () => {
    folder = await temporaryFolder();
    service = await startProcess({ RECORD_KEYS: KEY, READ_KEYS: KEY }, folder.path);
  });
  afterAll(() => service.end('SIGTERM').finally(() => folder.remove()));

  const folderOf = (title: string): string => join(folder.path, title.replace(/\W+/g, '-'));
  /** A text of the page with the address and the key of the service. */
  const written = (text: string): string =>
    text.replaceAll(ADDRESS, service.url).replaceAll('YOUR-KEY', KEY).replaceAll('30s', '1s');
  const run = async (title: string, commands: string): Promise<string> => {
    // The packages of the system's Python, not those of another one.
    const env = { ...ENVIRONMENT, PATH: `/usr/bin${delimiter}${process.env.PATH ?? ''}` };
    const options = { cwd: folderOf(title), env, timeout: ALLOWED, maxBuffer: 64 * 1024 * 1024 };
    const ended = await execute('bash', ['-euo', 'pipefail', '-c', written(commands)], options);
    return ended.stdout;
  };
  for (const [title, missing] of Object.entries(MISSING)) {
    describeUnless(missing, `the program for ${title}`, () => {
      it(
        'records, pages and waits as it is pasted, with a key',
        async () => {
          const { commands, files } = programOf(title);
          await mkdir(folderOf(title));
          await symlink(join(ROOT, 'node_modules'), join(folderOf(title), 'node_modules'));
          for (const { name, text } of files) await writeFile(join(folderOf(title), name), `${written(text)}\n`);
          const printed = await run(title, commands);
          const [newest] = eventsOf(
            await callOperation(service.url, 'httpget', 'GetEvents', '', { 'X-API-Key': KEY }),
          ).slice(-1);
          expect(newest).toBeDefined();
          // As what RecordEvent returned, and in a page.
          expect(printed.split(newest?.id ?? '').length).toBeGreaterThan(2);
        },
        ALLOWED,
      );
    });
  }
});

function missingOf(folder: string): string | undefined {
  const client = CLIENTS.find((candidate) => candidate.folder === folder);
  if (client === undefined) throw new Error(`There is no client ${folder}.`);
  return missingFor(client);
}

/** The commands of a section, and the files that they need. */
function programOf(title: string) {
  const text = sections.get(title) ?? '';
  const files = [...text.matchAll(/<!-- (\S+) -->\n\n```\w+\n([^]*?)\n```/g)];
  return {
    commands: /<!-- run -->\n\n```sh\n([^]*?)\n```/.exec(text)?.[1] ?? '',
    files: files.map(([, name = '', code = '']) => ({ name, text: code })).filter(({ name }) => name !== 'run'),
  };
}

/** Over which bindings a client passes a check, in the words of the page. */
function bindingsOf(client: Client, check: Check): string {
  const bindings = BINDINGS.filter((binding) => client.checks[binding]?.includes(check));
  const words: Readonly<Record<number, string>> = { 0: '–', 1: 'SOAP 1.1', 2: 'SOAP', 4: 'all four' };
  return words[bindings.length] ?? bindings.join(', ');
}
