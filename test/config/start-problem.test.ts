import { createServer } from 'node:net';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/config/config';
import { listenProblem, logProblem } from '../../src/config/start-problem';
import { useTemporaryFolder } from '../support/temporary-folder';

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
    ['nowhere.invalid', 'No host nowhere.invalid is known.'],
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

describe('what keeps the service from opening its log', () => {
  const folder = useTemporaryFolder();
  const asUser = process.getuid?.() === 0 ? it.skip : it;

  it('names a folder and a path through a file', async () => {
    await mkdir(join(folder.path, 'folder'));
    await writeFile(join(folder.path, 'file'), '');
    const problem = (path: string) => logProblem(readConfig({ EVENT_LOG: `sqlite:${join(folder.path, path)}` }));
    expect(await problem('folder')).toMatch(/folder cannot be opened: it is a folder\. Set EVENT_LOG to sqlite:/);
    expect(await problem('file/events.db')).toContain('part of its path is a file, not a folder. Set EVENT_LOG');
    expect(await problem('file')).toBeUndefined();
    expect(await problem('none/events.db')).toBeUndefined();
    expect(await logProblem(readConfig({ EVENT_LOG: 'nats://h/EVENTS' }))).toBeUndefined();
  });

  asUser('names the user that may not write', async () => {
    const inside = join(folder.path, 'folder');
    await mkdir(inside);
    await chmod(inside, 0o555);
    const config = readConfig({ EVENT_LOG: `sqlite:${join(inside, 'deep', 'events.db')}` });
    expect(await logProblem(config)).toContain(
      `the folder ${inside} cannot be written by the user ${userInfo().username}.`,
    );
  });

  asUser('names the user that may not read, where the log is only read', async () => {
    const file = join(folder.path, 'events.db');
    const config = readConfig({ EVENT_LOG: `sqlite:${file}` });
    await writeFile(file, '');
    await chmod(file, 0o400);
    expect(await logProblem(config, 'read')).toBeUndefined();
    await chmod(file, 0);
    expect(await logProblem(config, 'read')).toBe(
      `The event log ${file} cannot be opened: the user ${userInfo().username} has no permission to read it. ` +
        'Run this as the user of the service.',
    );
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
