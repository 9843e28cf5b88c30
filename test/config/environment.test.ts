import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EnvFile } from '../../src/config/environment';
import { useTemporaryFolder } from '../support/temporary-folder';

const folder = useTemporaryFolder();

async function read(content: string | Buffer): Promise<Record<string, string>> {
  const file = join(folder.path, '.env');
  await writeFile(file, content);
  return EnvFile.read(file).texts;
}

describe('an .env file', () => {
  it('has one NAME=VALUE a line, comments and empty lines', async () => {
    const values = {
      A: ['A=1', '1'],
      B: ['export B = two words  # comment', 'two words'],
      C: [`C='it is #1 \\n'`, 'it is #1 \\n'],
      D: ['D="x=\'y\'" # comment', "x='y'"],
      E: ['E=`a"b`', 'a"b'],
      F: ['F=', ''],
      G: ['G= # comment', ''],
      H: ['  H=a\'b"c', 'a\'b"c'],
      I: ['I="" ', ''],
    };
    const lines = ['# comment', '', ...Object.values(values).map(([line]) => line)];
    const texts = Object.fromEntries(Object.entries(values).map(([name, [, value]]) => [name, value]));
    for (const end of ['\n', '\r\n', '\r']) expect(await read(lines.join(end))).toEqual(texts);
  });

  it('may begin with a byte order mark', async () => {
    expect(await read('\ufeffA=1\n')).toEqual({ A: '1' });
  });

  it('has no variables if it does not exist', () => {
    expect(EnvFile.read(join(folder.path, '.env')).texts).toEqual({});
  });

  it.each([
    ['RECORD_KEYS', 1],
    ['PORT=1\nthis is no variable\nRECORD_KEYS=x', 2],
    ['RECORD-KEYS=abc', 1],
    ['A="abc', 1],
    ["A='abc\nRECORD_KEYS=x\nB='", 1],
    ['A="abc"def', 1],
    ['A="a\\nb"', 1],
    ['A=b#c', 1],
    ['A=1\n\nA=2', 3],
    ['set A=1', 1],
  ])('is refused with its path and the line: %j', async (content, line) => {
    await expect(read(content)).rejects.toThrow(`.env, line ${String(line)}: `);
    await expect(read(content)).rejects.not.toThrow(/abc|b#c|no variable/);
  });

  it.each([
    ['UTF-16', Buffer.from('A=1\n', 'utf16le')],
    ['Windows-1252', Buffer.from('A=\u00e9', 'latin1')],
  ])('is refused in %s', async (_encoding, content) => {
    await expect(read(content)).rejects.toThrow('.env is not text in UTF-8');
  });

  it('is refused if it is a folder or a link to nothing', async () => {
    const file = join(folder.path, 'folder');
    await mkdir(file);
    expect(() => EnvFile.read(file)).toThrow(`${file} cannot be read: it is a folder`);
    const link = join(folder.path, 'link');
    await symlink('nothing', link);
    expect(() => EnvFile.read(link)).toThrow(`${link} cannot be read: there is no such file or folder`);
  });
});
