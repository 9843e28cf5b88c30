import { postgresAddress } from '../../../src/log/postgres/address';

describe('the address of an event log in PostgreSQL', () => {
  it('names hosts, database, user and parameters', () => {
    expect(
      postgresAddress(
        'postgres://a%40b@H1,[FE80::1]:5433/d%2Fb?sslmode=verify-full&sslrootcert=%2Fca&connections=8&durability=relaxed',
      ),
    ).toEqual({
      hosts: [
        { host: 'H1', port: 5432 },
        { host: 'fe80::1', port: 5433 },
      ],
      database: 'd/b',
      user: 'a@b',
      sslmode: 'verify-full',
      sslrootcert: '/ca',
      connections: 8,
      isRelaxed: true,
    });
    expect(postgresAddress('postgresql://h/events?target_session_attrs=read-write&durability=full')).toMatchObject({
      user: undefined,
      sslmode: 'prefer',
      sslrootcert: undefined,
      connections: 4,
      isRelaxed: false,
    });
  });

  it('may name the folder of a socket', () => {
    expect(postgresAddress('postgres://u@%2Fvar%2Frun%2Fpostgresql/d')?.hosts).toEqual([
      { host: '/var/run/postgresql', port: 5432 },
    ]);
    expect(postgresAddress('postgres://%2Ftmp:5433/d')?.hosts).toEqual([{ host: '/tmp', port: 5433 }]);
  });

  it.each(['postgres://h', 'postgres:h/d', 'postgres://h/d/e', 'postgres://h/d#x'])('%s is none', (text) => {
    expect(postgresAddress(text)).toBeUndefined();
  });

  it.each([
    ['postgres://u:secret@h/d', 'must not hold a password'],
    ['postgres:///d', 'must name its hosts'],
    ['postgres://h:x/d', 'must name its hosts'],
    ['postgres://h,/d', 'must name its hosts'],
    ['postgres://%@h/d', 'percent-encoded'],
    ['postgres://h/%', 'percent-encoded'],
    ['postgres://h/d?connections=1', 'connections=2 to 99'],
    ['postgres://h/d?connections=100', 'connections=2 to 99'],
    ['postgres://h/d?target_session_attrs=any', 'target_session_attrs=read-write'],
    ['postgres://h/d?sslmode=none', 'sslmode=disable|prefer'],
    ['postgres://h/d?sslrootcert=', 'sslrootcert=FILE'],
    ['postgres://h/d?password=secret', 'must not hold a password'],
    ['postgres://h/d?sslmode=no-verify', 'sslmode=require in place of'],
    ['postgres://h/d?sslmode=require&channel_binding=require', 'leave it out'],
    ['postgres://h/d?options=x', 'may have, after a ?'],
    ['postgres://h/d?connections=2&connections=3', 'may have, after a ?'],
  ])('%s is refused', (text, problem) => {
    expect(() => postgresAddress(text)).toThrow(problem);
  });
});
