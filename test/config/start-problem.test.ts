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
    ['192.0.2.1', '192.0.2.1 is not an address of this machine.'],
    ['nowhere.invalid', 'nowhere.invalid is not an address of this machine.'],
  ])('on %s is told with the variable', async (host, problem) => {
    const error = await listenError(host, 0);
    expect(listenProblem(error, readConfig({ HOST: host }))).toBe(`${problem} Set HOST.`);
    expect(listenProblem(error, readConfig({ HOST: host, ADMIN_PORT: '0' }))).toBe(`${problem} Set HOST.`);
    expect(listenProblem(error, readConfig({ ADMIN_PORT: '0', ADMIN_HOST: host }))).toBe(`${problem} Set ADMIN_HOST.`);
  });

  it('names a port that is not free for this user', () => {
    const error = Object.assign(new Error(), { code: 'EACCES', syscall: 'listen', address: '127.0.0.1', port: 80 });
    const user = `The user ${userInfo().username} may not listen on port 80 of 127.0.0.1.`;
    expect(listenProblem(error, readConfig({ PORT: '80' }))).toBe(
      `${user} Set PORT to 1024 or more, or give that user the right.`,
    );
    expect(listenProblem(error, readConfig({ ADMIN_PORT: '80' }))).toBe(
      `${user} Set ADMIN_PORT to 1024 or more, or give that user the right.`,
    );
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
