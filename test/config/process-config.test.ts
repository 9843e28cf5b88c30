import { readConfig } from '../../src/config/config';
import { ProcessConfig, withinDescriptors } from '../../src/config/process-config';

describe('the connections of a process that may open few files', () => {
  const bounded = (limit: number, settings = {}) => {
    const warnings: string[] = [];
    const { limits } = withinDescriptors(readConfig(settings), (warning) => warnings.push(warning), limit);
    return { maxConnections: limits.maxConnections, warnings };
  };

  it('leave descriptors for everything else, and a warning names both numbers', () => {
    expect(bounded(1024)).toEqual({
      maxConnections: 874,
      warnings: [
        'this process may have 1024 files open at once: MAX_CONNECTIONS is 874, not 1200. ' +
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
  'the-key-of-16-chars',
  'shop the-key-of-16-chars\n',
  ' shop the-key-of-16-chars , other\n',
  'the-key-of-16-chars\r\nb',
])('takes the first key for a tool, without its name: %j', (text) => {
  expect(ProcessConfig.readKey(text)).toBe('the-key-of-16-chars');
});

describe('settings that are read again', () => {
  const { env } = process;
  afterEach(() => {
    process.env = env;
  });

  /** The variables that a service with one environment names when it gets another. */
  const named = (before: object, after: object) => {
    const [old, next] = [before, after].map((variables) => {
      process.env = { ...env, ...variables };
      return ProcessConfig.ofService(() => undefined);
    });
    return old && next && ProcessConfig.needRestart(old, next, true);
  };
  const TLS = { TLS_CERT: 'a.pem', TLS_KEY: 'a.key' };

  it.each([
    ['other files', TLS, { TLS_CERT: 'b.pem', TLS_KEY: 'b.key' }, []],
    ['TLS', {}, TLS, ['TLS_CERT', 'TLS_KEY']],
    ['no TLS', TLS, {}, ['TLS_CERT', 'TLS_KEY']],
    ['client certificates', TLS, { ...TLS, TLS_CLIENT_CA: 'ca.pem' }, ['TLS_CLIENT_CA']],
    ['no client certificates', { ...TLS, TLS_CLIENT_CA: 'ca.pem' }, TLS, ['TLS_CLIENT_CA']],
  ])('name what needs a restart: %s', (_what, before, after, expected) => {
    expect(named(before, after)).toEqual(expected);
  });
});
