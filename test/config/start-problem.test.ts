import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { readConfig } from '../../src/config/config';
import { listenProblem } from '../../src/config/start-problem';

/** Resolves to the error of listening there. */
function listenError(host: string, port: number): Promise<unknown> {
  return new Promise((resolve) => {
    const server = createServer().once('error', resolve);
    server.listen({ host, port }, () => server.close(() => resolve(undefined)));
  });
}

describe('what keeps the service from listening', () => {
  it.each([
    ['192.0.2.1', 'it is not an address of this machine'],
    ['nowhere.invalid', 'its name is unknown'],
  ])('on %s is told with the variables', async (host, reason) => {
    const error = await listenError(host, 0);
    const problem = `${host} at port 0 cannot be used: ${reason}.`;
    expect(listenProblem(error, readConfig({ HOST: host, PORT: '0', ADMIN_PORT: '0' }))).toBe(
      `${problem} Set PORT or HOST.`,
    );
    expect(listenProblem(error, readConfig({ PORT: '0', ADMIN_PORT: '0', ADMIN_HOST: host }))).toBe(
      `${problem} Set ADMIN_PORT or ADMIN_HOST.`,
    );
  });

  it('names a port that is not free for this user', () => {
    const error = Object.assign(new Error(), { code: 'EACCES', syscall: 'listen', address: '127.0.0.1', port: 80 });
    const problem = `127.0.0.1 at port 80 cannot be used: the user ${userInfo().username} has no permission.`;
    expect(listenProblem(error, readConfig({ PORT: '80' }))).toBe(`${problem} Set PORT or HOST.`);
    expect(listenProblem(error, readConfig({ ADMIN_PORT: '80' }))).toBe(`${problem} Set ADMIN_PORT or ADMIN_HOST.`);
  });

  it('is nothing for other errors', () => {
    const error = Object.assign(new Error(), { code: 'EACCES', syscall: 'open' });
    for (const other of [error, new Error('x'), 'x', undefined])
      expect(listenProblem(other, readConfig({}))).toBeUndefined();
  });
});

it('ADMIN_PORT must differ from PORT on the same address', () => {
  const same = { PORT: '8080', ADMIN_PORT: '8080' };
  for (const hosts of [{}, { HOST: '0.0.0.0' }, { ADMIN_HOST: '::' }]) {
    expect(() => readConfig({ ...same, ...hosts })).toThrow('ADMIN_PORT=8080: must not be the same as PORT');
  }
  expect(readConfig({ ...same, ADMIN_HOST: '127.0.0.2' }).admin?.port).toBe(8080);
  expect(readConfig({ PORT: '0', ADMIN_PORT: '0' }).admin?.port).toBe(0);
});
