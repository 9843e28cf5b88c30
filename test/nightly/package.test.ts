import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { callOperation } from '../support/bindings';
import { send } from '../support/http';
import { run as start } from '../support/program.cjs';
import { useSharedFolder } from '../support/temporary-folder';

const run = promisify(execFile);
const ROOT = join(__dirname, '..', '..');

/** Licences that ask for nothing more than their text. */
const PERMISSIVE = /^(MIT|ISC|BSD-[23]-Clause|Apache-2\.0|BlueOak-1\.0\.0|Python-2\.0|Unlicense)$/;

/** The modules that run with the service, as `name version`. */
async function productionModules(): Promise<string[]> {
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, { readonly version: string; readonly dev?: boolean }>>;
  };
  return Object.entries(packages)
    .filter(([folder, { dev }]) => folder !== '' && !dev)
    .map(([folder, { version }]) => `${folder.replace(/^.*node_modules\//, '')} ${version}`);
}

describe('the packed package', () => {
  const folder = useSharedFolder();
  let archive: string;
  let files: string[];
  beforeAll(async () => {
    await run('node', ['scripts/third-party.mjs'], { cwd: ROOT });
    const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder.path], {
      cwd: ROOT,
    });
    const listing = JSON.parse(stdout) as unknown;
    const [packed] = Object.values(listing as Record<string, { filename: string; files: { path: string }[] }>);
    archive = join(folder.path, packed?.filename ?? '');
    files = packed?.files.map(({ path }) => path) ?? [];
  }, 120_000);

  it('holds the compiled service, the WSDLs, the files to deploy it with, the documentation and licences, and nothing else', () => {
    const expected =
      /^(dist\/commit|dist\/[\w/-]+\.js|dist\/(index|config\/process-config)\.d\.ts|dist\/pages\/(?:[\w-]+\/)?templates\/[\w-]+\.(eta|css|js)|deploy\/[\w./-]+|docs\/[\w-]+\.(md|json|yml|png)|examples\/[\w-]+\/[\w.]+|wsdl\/WebHooks(\.extended)?\.wsdl|(README|CHANGELOG)\.md|LICENSE|THIRD-PARTY|package\.json)$/;
    expect(files.filter((file) => !expected.test(file))).toEqual([]);
    const wsdls = ['wsdl/WebHooks.wsdl', 'wsdl/WebHooks.extended.wsdl'];
    const others = ['README.md', 'CHANGELOG.md', 'LICENSE', 'THIRD-PARTY', 'docs/operations.md'];
    const types = ['dist/index.d.ts', 'dist/config/process-config.d.ts'];
    expect(files).toEqual(
      expect.arrayContaining(['dist/main.js', 'dist/cli/events.js', ...types, ...wsdls, ...others]),
    );
  });

  it('has the version that the change log is headed with', async () => {
    const [, version] =
      /^## \[([^\]]+)\] - \d{4}-\d{2}-\d{2}$/m.exec(await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8')) ?? [];
    const { version: packed } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(version).toBe(packed);
  });

  it('has the licence of every production module, none of which asks for more than to be named', async () => {
    const text = await readFile(join(ROOT, 'THIRD-PARTY'), 'utf8');
    const modules = await productionModules();
    expect(modules.filter((name) => !text.includes(`\n${name}\n\nLicence: `))).toEqual([]);
    const licences = new Set(Array.from(text.matchAll(/^Licence: (.*)$/gm), ([, licence]) => licence));
    expect([...licences].filter((licence) => !PERMISSIVE.test(String(licence)))).toEqual([]);
  });

  it('has a bill of materials that lists every production module and no other', async () => {
    const { stdout } = await run('node', ['scripts/sbom.mjs'], { cwd: ROOT, maxBuffer: 1 << 26 });
    const { components } = JSON.parse(stdout) as { components: { purl: string }[] };
    const listed = components.map(({ purl }) => decodeURIComponent(purl)).sort();
    const modules = await productionModules();
    expect(listed).toEqual(modules.map((name) => `pkg:npm/${name.replace(' ', '@')}`).sort());
  });

  it('runs with npx from any folder', async () => {
    const elsewhere = join(folder.path, 'elsewhere');
    await mkdir(elsewhere);
    const npx = start(['npx', '--yes', `--package=${archive}`, 'asmx-webhook'], {
      cwd: elsewhere,
      variables: { ...process.env, PORT: '0' },
      detached: true,
    });
    try {
      const [, url = ''] = await npx.prints(/WebHook answers at (\S+)/);
      expect(await callOperation(url, 'soap11', 'HelloWorld')).toBe('Hello World');
      await callOperation(url, 'httpget', 'RecordEvent');
      expect((await send(`${url}?event=1`)).body).toContain('>npx ./asmx-webhook-1.1.0.tgz events forward URL ');
    } finally {
      // The whole group: npx starts the service through a shell.
      const { exitCode, pid } = npx.child;
      if (exitCode === null && pid !== undefined) {
        process.kill(-pid, 'SIGTERM');
        await npx.ended;
      }
    }
  }, 120_000);
});
