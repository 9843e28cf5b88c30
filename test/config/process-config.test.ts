import files from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readConfig } from '../../src/config/config';
import { requireNode } from '../../src/util/program';
import { ProcessConfig, withinDescriptors } from '../../src/config/process-config';
import { useTemporaryFolder } from '../support/temporary-folder';

const KEY = 'a-key-of-sixteen-or-more';

describe('the connections of a process that may open few files', () => {
  const bounded = (limit?: number, settings = {}) => {
    const warnings: string[] = [];
    const { limits } = withinDescriptors(readConfig(settings), (warning) => warnings.push(warning), limit);
    return { maxConnections: limits.maxConnections, warnings };
  };

  it('leave descriptors for everything else, and a warning names both numbers', () => {
    const [soft, hard] = [1024, 524_288];
    jest.spyOn(files, 'readFileSync').mockReturnValueOnce(`Max open files   ${String(soft)}   ${String(hard)}   files`);
    for (const limit of [undefined, soft])
      expect(bounded(limit)).toEqual({
        maxConnections: 874,
        warnings: [
          'this process may have 1024 files open at once: MAX_CONNECTIONS is 874, not 1000. ' +
            'Raise that limit (ulimit -n, LimitNOFILE of systemd, ulimits of Docker), or set less',
        ],
      });
  });

  it.each([
    [2150, {}],
    [Infinity, {}],
    [250, { MAX_CONNECTIONS: '100' }],
  ])('are as many as MAX_CONNECTIONS says where %d files are enough', (limit, settings) => {
    expect(bounded(limit, settings).warnings).toEqual([]);
  });

  it('need more files than the service itself', () => {
    expect(() => bounded(150)).toThrow('this process may have 150 files open at once, and needs more than 150.');
  });
});

it.each([
  ['v18.20.8', [[1]]],
  ['v20.18.3', [[1]]],
  ['v20.19.0', []],
  ['v22.0.0', []],
])('Node %s ends if it is older than 20.19', (version, exits) => {
  const { version: own } = process;
  Object.defineProperty(process, 'version', { value: version });
  const exit = jest.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  jest.spyOn(console, 'error').mockImplementation();
  requireNode();
  Object.defineProperty(process, 'version', { value: own });
  expect(exit.mock.calls).toEqual(exits);
});

it.each([
  'the-key-of-16-chars',
  'shop the-key-of-16-chars\n',
  ' shop the-key-of-16-chars , other\n',
  'the-key-of-16-chars\r\nb',
])('takes the first key for a tool, without its name: %j', (text) => {
  expect(ProcessConfig.readKey(text)).toBe('the-key-of-16-chars');
});

describe('the settings of a process', () => {
  const folder = useTemporaryFolder();
  const { env } = process;
  const cwd = process.cwd();
  afterEach(() => {
    process.env = env;
    process.chdir(cwd);
  });
  const ofService = (variables: object, warn: (warning: string) => void = () => undefined) => {
    process.env = { ...variables };
    return ProcessConfig.ofService(warn);
  };

  /** The variables that a service with one environment names when it gets another. */
  const named = (before: object, after: object, isRetained: boolean) =>
    ProcessConfig.needRestart(ofService(before), ofService(after), isRetained);
  const TLS = { TLS_CERT: 'a.pem', TLS_KEY: 'a.key' };

  it.each<[string, object, object, string[], boolean?]>([
    ['other keys', { RECORD_KEYS: KEY }, { READ_KEYS: KEY, ALLOWED_HOSTS: 'h' }, []],
    ['no default', { EVENT_TYPE: '' }, { MAX_CONNECTIONS: '9', MAX_IN_FLIGHT: '1000' }, ['MAX_CONNECTIONS']],
    ['the retention', {}, { RETENTION_MAX_AGE: '1d', RETENTION_MAX_EVENTS: '9' }, []],
    ['the retention of a stream', {}, { RETENTION_MAX_AGE: '1d' }, ['RETENTION_MAX_AGE'], false],
    ['other files', TLS, { TLS_CERT: 'b.pem', TLS_KEY: 'b.key' }, []],
    ['TLS', {}, TLS, ['TLS_CERT', 'TLS_KEY']],
    ['no TLS', TLS, {}, ['TLS_CERT', 'TLS_KEY']],
    ['client certificates', TLS, { ...TLS, TLS_CLIENT_CA: 'ca.pem' }, ['TLS_CLIENT_CA']],
    ['no client certificates', { ...TLS, TLS_CLIENT_CA: 'ca.pem' }, TLS, ['TLS_CLIENT_CA']],
  ])('name what needs a restart: %s', (_what, before, after, expected, isRetained = true) => {
    expect(named(before, after, isRetained)).toEqual(expected);
  });

  it.each([
    ...[{ HOST: '::1' }, { PORT: '81' }, { WORKERS: '3' }, { ADMIN_PORT: '82' }, { ADMIN_HOST: '::1' }],
    { EVENT_LOG: 'sqlite:other.db' },
  ])('stop a worker whose supervisor uses others: %j', (others) => {
    const common = { PORT: '80', WORKERS: '2', ADMIN_PORT: '8082' };
    const { environmentOfWorkers } = ofService(common);
    const ofWorker = (variables: object) => ofService({ ...common, ...environmentOfWorkers, ...variables });
    expect(ofWorker({ HOST: '127.0.0.1', ADMIN_HOST: '', RECORD_KEYS: KEY, EVENT_LOG_PASSWORD: 'other' }).workers).toBe(
      2,
    );
    expect(() => ofWorker(others)).toThrow(/^\w+.*: takes effect when the service is restarted$/);
  });

  it('have the password of PostgreSQL in its own variable or in that of its programs, where both are not empty, or in a file', async () => {
    const password = (variables: object) => ofService(variables).eventLogServer.password;
    const [EVENT_LOG_PASSWORD, PGPASSWORD] = ['own', 'common'];
    expect(password({ PGPASSWORD, EVENT_LOG_PASSWORD: '', EVENT_LOG_PASSWORD_FILE: '' })).toBe('common');
    expect(password({ PGPASSWORD, EVENT_LOG_PASSWORD })).toBe('own');
    const EVENT_LOG_PASSWORD_FILE = join(folder.path, 'password');
    await writeFile(EVENT_LOG_PASSWORD_FILE, 'first\n');
    const before = ofService({ EVENT_LOG_PASSWORD_FILE, PGPASSWORD });
    expect(before.eventLogServer.password).toBe('first');
    await writeFile(EVENT_LOG_PASSWORD_FILE, 'second');
    const after = ofService({ EVENT_LOG_PASSWORD_FILE });
    expect(ProcessConfig.needRestart(before, after, true)).toEqual(['EVENT_LOG_PASSWORD']);
  });

  it('are those of the environment, and otherwise of .env, with a warning for each name that is none or resembles one', async () => {
    process.chdir(folder.path);
    const lines = ['RETENTION_DAYS=30', 'NODE_ENV=production', 'SERVICE_ROOT=file', 'EVENT_TYPE=file', 'PORT=x'];
    await writeFile('.env', lines.join('\n'));
    const warn = jest.fn();
    const resembling = { GITHUB_SECRETS: 'x', LOG_LVL: 'debug', API_KEY: 'x', DATABASE_URL: 'x' };
    const config = ofService({ ...resembling, EVENT_TYPE: 'environment', PORT: '0' }, warn);
    expect(config).toMatchObject({ path: '/file/Services/WebHooks.asmx', eventType: 'environment', port: 0 });
    expect(warn.mock.calls.flat()).toEqual([
      'RETENTION_DAYS: there is no such setting; did you mean RETENTION_MAX_AGE? (.env, line 1)',
      expect.stringMatching(/^GITHUB_SECRETS: .* did you mean WEBHOOK_SECRETS or .*SLACK_SECRETS or/),
      'LOG_LVL: there is no such setting; did you mean LOG_LEVEL?',
      'API_KEY: there is no such setting; did you mean RECORD_KEYS or READ_KEYS?',
    ]);
    expect(() => ofService({})).toThrow(/^PORT=x: must be .* \(\.env, line 5\)$/);
  });

  it('that a program gives are silent unless it says otherwise, and not set if they are undefined', () => {
    const config = ProcessConfig.embedded({ PORT: undefined, ACCESS_LOG: true });
    expect(config).toMatchObject({ port: 8080, log: { level: 'silent', access: true } });
    expect(ProcessConfig.embedded({ LOG_LEVEL: 'warn' }).log.level).toBe('warn');
  });
});
