import fs, { type BigIntStats } from 'node:fs';
import { filesAt, pathOf, requireSame } from '../../../src/log/sqlite/files';

afterEach(() => jest.restoreAllMocks());

describe('the files of a log on a drive of Windows', () => {
  it('are told apart by file numbers that only a bigint holds', () => {
    let ino = 2n ** 60n;
    jest.spyOn(fs, 'statSync').mockImplementation((_path, options) => {
      return (options?.bigint ? { ino, dev: 1n } : { ino: Number(ino), dev: 1 }) as BigIntStats;
    });
    const opened = filesAt('e.db', 'e.db');
    requireSame(filesAt('e.db', 'e.db'), opened);
    ino += 1n;
    expect(() => {
      requireSame(filesAt('e.db', 'e.db'), opened);
    }).toThrow('another file has taken the place of the file of the log');
  });

  it('have the name that was given where it cannot be resolved', () => {
    jest.spyOn(fs.realpathSync, 'native').mockImplementation(() => {
      throw Object.assign(new Error('EISDIR: illegal operation on a directory, realpath'), { code: 'EISDIR' });
    });
    expect(pathOf(__filename)).toBe(__filename);
  });
});
