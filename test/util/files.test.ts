import files, { fstatSync } from 'node:fs';
import fs, { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PositionFile } from '../../src/cli/forward/position';
import { flush, writeNewFile } from '../../src/util/files';
import { useTemporaryFolder } from '../support/temporary-folder';

describe('a new file', () => {
  const folder = useTemporaryFolder();
  const path = (name: string): string => join(folder.path, name);

  it('appears under its name when it is whole, and leaves nothing else behind', async () => {
    await writeNewFile(path('new'), async (temporary) => {
      await writeFile(temporary, 'half');
      expect(await readdir(folder.path)).not.toContain('new');
      await writeFile(temporary, 'whole');
    });
    expect(await readdir(folder.path)).toEqual(['new']);
    expect(await readFile(path('new'), 'utf8')).toBe('whole');
  });

  it('does not appear when writing it fails', async () => {
    const failing = writeNewFile(path('new'), async (temporary) => {
      await writeFile(temporary, 'half');
      throw new Error('the disk is full');
    });
    await expect(failing).rejects.toThrow('the disk is full');
    expect(await readdir(folder.path)).toEqual([]);
  });

  it('is refused without a name', async () => {
    await expect(writeNewFile('', () => Promise.resolve())).rejects.toThrow('The name of the new file is empty.');
  });

  it('is refused where its name is taken, before anything is written', async () => {
    await writeFile(path('mine'), 'mine');
    await expect(writeNewFile(path('mine'), () => Promise.reject(new Error('written')))).rejects.toThrow(
      `${path('mine')} exists already. Choose another name or move that file away.`,
    );
  });

  it('does not replace a file that appears while it is written', async () => {
    const late = writeNewFile(path('mine'), async (temporary) => {
      await writeFile(temporary, 'new');
      await writeFile(path('mine'), 'mine');
    });
    await expect(late).rejects.toThrow('exists already');
    expect(await readdir(folder.path)).toEqual(['mine']);
    expect(await readFile(path('mine'), 'utf8')).toBe('mine');
  });

  it('gets its name once a scanner or a backup of Windows lets go of it, as does the position of a forwarder', async () => {
    for (const code of ['EPERM', 'EACCES', 'EBUSY']) {
      jest.spyOn(fs, 'rename').mockRejectedValueOnce(Object.assign(new Error(code), { code }));
      await writeNewFile(path(code), (temporary) => writeFile(temporary, 'whole'));
      jest.spyOn(fs, 'rename').mockRejectedValueOnce(Object.assign(new Error(code), { code }));
      await new PositionFile(path('position')).write({ sequence: 1, event: undefined });
    }
    expect(await readdir(folder.path)).toEqual(['EACCES', 'EBUSY', 'EPERM', 'position']);
  });

  it('stays without its name if a program does not let go of it within two seconds', async () => {
    jest.spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValue(2001);
    jest.spyOn(fs, 'rename').mockRejectedValueOnce(Object.assign(new Error('busy'), { code: 'EBUSY' }));
    await expect(writeNewFile(path('new'), (temporary) => writeFile(temporary, ''))).rejects.toThrow('busy');
  });

  it('is on disk before it has its name, and its name when it is done', async () => {
    const steps: string[] = [];
    const note = (descriptor: number) => void steps.push(fstatSync(descriptor).isFile() ? 'file' : 'folder');
    jest.spyOn(files, 'fsyncSync').mockImplementation(note);
    jest.spyOn(fs, 'rename').mockImplementation(() => Promise.resolve(void steps.push('rename')));
    await writeNewFile(path('new'), (temporary) => writeFile(temporary, ''));
    expect(steps).toEqual(['file', 'rename', 'folder']);
  });

  it('is not done if the disk fails to keep its name, but is on a file system that has no way to', () => {
    const failing = (code: string) => () => {
      jest.spyOn(files, 'fsyncSync').mockImplementationOnce(() => {
        throw Object.assign(new Error(code), { code });
      });
      flush(folder.path);
    };
    expect(failing('EIO')).toThrow('EIO');
    expect(failing('EINVAL')).not.toThrow();
  });

  it('has a name as long as the file system allows', async () => {
    const name = 'n'.repeat(255);
    await writeNewFile(path(name), (temporary) => writeFile(temporary, 'whole'));
    expect(await readdir(folder.path)).toEqual([name]);
  });
});
