import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readConfig } from '../../src/config/config';
import { ConfigError } from '../../src/config/variable';
import { useTemporaryFolder } from '../support/temporary-folder';

const KEY = 'a-key-of-sixteen-or-more';

describe('a variable that guards the service', () => {
  const folder = useTemporaryFolder();
  const GUARDS = ['RECORD_KEYS', 'READ_KEYS', 'WEBHOOK_SECRETS'].flatMap((name) => [name, `${name}_FILE`]);

  it.each([...GUARDS, 'TLS_CERT', 'TLS_KEY', 'TLS_CLIENT_CA', 'PROTOCOLS', 'DOCUMENTATION'])(
    'stops the start if it is empty: %s',
    (name) => {
      for (const text of ['', ' ', '\t\n']) {
        expect(() => readConfig({ [name]: text })).toThrow(
          new ConfigError(`${name}: must not be empty; give it a value, or remove it`),
        );
      }
    },
  );

  it('stops the start if it has only separators', () => {
    expect(() => readConfig({ READ_KEYS: ' , ,\n' })).toThrow('READ_KEYS: must be a list');
  });

  it.each([
    ['empty', ''],
    ['in UTF-16', Buffer.from(`\ufeff${KEY}\n`, 'utf16le')],
    ['with a short key', `${KEY}\nshort\n`],
    ['in quotes', `"${KEY}\n${KEY}"\n`],
  ])('stops the start if its file is %s', async (_what, content) => {
    const file = join(folder.path, 'keys');
    await writeFile(file, content);
    const read = () => readConfig({ READ_KEYS_FILE: file });
    expect(read).toThrow(`READ_KEYS_FILE=${file}: `);
    expect(read).not.toThrow(KEY);
  });
});

describe('a misspelled variable', () => {
  it.each([
    ['RECORD_KEY', 'RECORD_KEYS'],
    ['RECROD_KEYS', 'RECORD_KEYS'],
    ['REED_KEY', 'READ_KEYS'],
    ['TLS_KY', 'TLS_KEY'],
    ['Record_Keys_File', 'RECORD_KEYS_FILE'],
    ['TLS_CRT', 'TLS_CERT'],
    ['TLS_CERT_FILE', 'TLS_CERT'],
    ['EVENTLOG', 'EVENT_LOG'],
    ['port', 'PORT'],
  ])('%s stops the start and names %s', (name, meant) => {
    for (const text of ['', KEY]) {
      const read = () => readConfig({ [name]: text });
      expect(read).toThrow(new ConfigError(`${name}: there is no such setting; did you mean ${meant}?`));
    }
  });

  it('is distinguished from the ordinary variables of a machine', () => {
    const names =
      'PATH HOME HOSTNAME HOSTTYPE HOST_IP HOSTS SPORT PORTS PORT_80 POST PWD USER LOGNAME SHELL TERM LANG LC_ALL TZ EDITOR ' +
      'NODE_ENV NODE_OPTIONS NODE_EXTRA_CA_CERTS NODE_PATH UV_THREADPOOL_SIZE npm_config_port npm_package_name INIT_CWD ' +
      'http_proxy https_proxy no_proxy HTTP_PROXY NO_PROXY ALL_PROXY SSL_CERT SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE ' +
      'KUBERNETES_SERVICE_HOST KUBERNETES_PORT KUBERNETES_PORT_443_TCP WEBHOOK_SERVICE_HOST WEBHOOK_SERVICE_PORT WEBHOOK_PORT ' +
      'SERVICE_HOST SERVICE_PORT SERVICE_NAME API_KEY API_KEYS SECRET_KEY DATABASE_URL REDIS_URL BASE_DIR LOG_FILE LOG_DIR ' +
      'INVOCATION_ID JOURNAL_STREAM CREDENTIALS_DIRECTORY STATE_DIRECTORY NOTIFY_SOCKET SYSTEMD_EXEC_PID ' +
      'DOCKER_HOST DOCKER_TLS_VERIFY CI GITHUB_TOKEN AWS_REGION AWS_SECRET_ACCESS_KEY SSH_AUTH_SOCK XDG_RUNTIME_DIR DISPLAY ' +
      'OneDrive ProgramData SystemRoot USERPROFILE COMPUTERNAME NUMBER_OF_PROCESSORS PATHEXT NODE_UNIQUE_ID NODE_CHANNEL_FD ' +
      'EVENT_NAME EVENT_ID ADMIN_EMAIL ADMIN_USER ADMIN_PASSWORD MAX_MEMORY WEB_CONCURRENCY KEY CERT WORKERS_DEV RECORD';
    const environment = Object.fromEntries(names.split(' ').map((name) => [name, 'x']));
    const settings = (variables: Readonly<Record<string, string>>) => {
      const config = readConfig(variables);
      return { ...config, eventLog: config.eventLog.name };
    };
    expect(settings(environment)).toEqual(settings({}));
    expect(() => readConfig({ ...process.env, PORT: '0' })).not.toThrow();
  });
});
