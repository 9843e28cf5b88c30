import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { callOperation } from '../support/bindings';
import { send } from '../support/http';
import { run as start } from '../support/program.cjs';
import { temporaryFolder } from '../support/temporary-folder';
import { itUnless } from '../support/tools';

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
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let archive: string;
  let files: string[];
  beforeAll(async () => {
    folder = await temporaryFolder();
    await run('node', ['scripts/third-party.mjs'], { cwd: ROOT });
    const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder.path], {
      cwd: ROOT,
    });
    const listing = JSON.parse(stdout) as unknown;
    const [packed] = Object.values(listing as Record<string, { filename: string; files: { path: string }[] }>);
    archive = join(folder.path, packed?.filename ?? '');
    files = packed?.files.map(({ path }) => path) ?? [];
  }, 120_000);
  afterAll(() => folder.remove());

  it('holds the compiled service, the WSDLs, the files to deploy it with, the documentation and licences, and nothing else', () => {
    const expected =
      /^(dist\/commit|dist\/[\w/-]+\.js|dist\/(index|config\/process-config)\.d\.ts|dist\/pages\/(?:[\w-]+\/)?templates\/[\w-]+\.(eta|css|js)|deploy\/[\w./-]+|docs\/[\w-]+\.(md|json|yml|png)|examples\/[\w-]+\/[\w.]+|wsdl\/WebHooks(\.extended)?\.wsdl|(README|CHANGELOG)\.md|LICENSE|THIRD-PARTY|package\.json)$/;
    expect(files.filter((file) => !expected.test(file))).toEqual([]);
    const wsdls = ['wsdl/WebHooks.wsdl', 'wsdl/WebHooks.extended.wsdl'];
    const others = ['README.md', 'CHANGELOG.md', 'LICENSE', 'THIRD-PARTY', 'docs/operations.md'];
    expect(files).toEqual(expect.arrayContaining(['dist/main.js', 'dist/cli/events.js', ...wsdls, ...others]));
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

  describe('installed', () => {
    let project: string;
    beforeAll(async () => {
      project = join(folder.path, 'project');
      await mkdir(project);
      await writeFile(join(project, 'package.json'), '{"type":"module"}');
      await run('npm', ['install', '--no-audit', '--no-fund', archive], { cwd: project });
    }, 120_000);

    it('gives its types to a program that starts the service', async () => {
      await writeFile(
        join(project, 'program.ts'),
        `import { createWebHook, type WebHook } from 'asmx-webhook';
         const webhook: WebHook = await createWebHook({ PORT: 0, SERVICE_ROOT: 'own' });
         const url: string = webhook.url;
         const { id, recorded }: { id: string; recorded: boolean } = await webhook.events.record({ type: 't', data: [url] });
         for await (const { sequence, data } of webhook.events.follow({ after: 0, signal: AbortSignal.timeout(1) }))
           void [sequence.length, data, recorded];
         const [event] = await webhook.events.read({ limit: 1 });
         const time: string | undefined = event?.time;
         await webhook.close();
         // @ts-expect-error: a name that is no setting
         void createWebHook({ PORTS: 1 });
         // @ts-expect-error: an attribute of another type
         void webhook.events.record({ time: 17 });
         // @ts-expect-error: settings are texts, numbers or switches
         void createWebHook({ PORT: [url] });`,
      );
      const compiler = join(ROOT, 'node_modules', '.bin', 'tsc');
      const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022'];
      await run(compiler, [...options, 'program.ts'], { cwd: project });
    }, 60_000);

    itUnless(
      process.getuid?.() === 0 ? undefined : 'the rights of root',
      'runs as a user who may write to nothing but the folder of the log',
      async () => {
        const data = join(folder.path, 'data');
        await mkdir(data);
        await chown(data, NOBODY, NOBODY);
        for (const path of [folder.path, project]) await chmod(path, 0o755);
        await run('chmod', ['-R', 'a-w', join(project, 'node_modules')]);
        const user = { uid: NOBODY, gid: NOBODY };
        const command = [join(project, 'node_modules', '.bin', 'asmx-webhook')];
        const service = start(command, { cwd: data, variables: { PORT: '0' }, ...user });
        const [, url = ''] = await service.prints(/WebHook answers at (\S+)/);
        expect(await callOperation(url, 'httpget', 'RecordEvent')).toMatch(/^[\da-f-]{36}$/);
        await service.end();
      },
      60_000,
    );
  });
});

/** A user without rights, who has no name in every container. */
const NOBODY = 65_534;
