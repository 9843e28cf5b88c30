import { compareCommand } from '../../../src/cli/compare/compare-command';
import { UsageError } from '../../../src/cli/terminal';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { writeFile } from 'node:fs/promises';

const REACH = { ca: undefined, isInsecure: false, timeout: 30_000 };
const TASK = { old: 'a', new: 'b', asked: [] };

describe('the arguments of the comparison', () => {
  const folder = useTemporaryFolder();
  afterEach(() => jest.restoreAllMocks());

  const asked = async (args: string): Promise<unknown[]> => {
    let asked: unknown[] = [];
    const note = (...given: unknown[]): Promise<void> => {
      asked = given;
      return Promise.resolve();
    };
    await compareCommand({ compare: note, settings: note }).run(args.split(' ').filter((arg) => arg !== ''));
    return asked;
  };

  it.each([
    ['settings a', ['a', undefined, REACH]],
    ['settings a --write .env', ['a', '.env', REACH]],
    ['settings --insecure a', ['a', undefined, { ...REACH, isInsecure: true }]],
    ['a b', [TASK, REACH]],
    ['a b --call GetEvents --call RecordEvent', [{ ...TASK, asked: ['GetEvents', 'RecordEvent'] }, REACH]],
  ])('can be %s', async (args, given) => {
    expect(await asked(args)).toEqual(given);
  });

  it.each([
    ['--help', /^Usage: asmx-webhook-compare \[options\] <old> <new>\n[^]* {2}--call <[^]*Exit code: /],
    ['settings --help', /^Usage: asmx-webhook-compare settings \[options\] <old>\n[^]* {2}--write <file> /],
    ['-v', /^\d+\.\d+\.\d+ \([\w-]+\)\n$/],
  ])('are answered: %s', async (args, page) => {
    const write = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    expect(await asked(args)).toEqual([]);
    expect(write.mock.calls.map(([text]) => text).join('')).toMatch(page);
  });

  it('name authorities in a file', async () => {
    const file = `${folder.path}/ca.pem`;
    await writeFile(file, 'PEM');
    expect(await asked(`a b --ca ${file}`)).toEqual([TASK, { ...REACH, ca: 'PEM' }]);
    await expect(asked('a b --ca nowhere')).rejects.toThrow('nowhere cannot be read: there is no such file or folder.');
  });

  it.each([
    ['', "Missing required argument 'old'."],
    ['a b c', 'Too many arguments. Expected 2 arguments but got 3.'],
    ['a b --call HelloWorld', '--call HelloWorld is neither RecordEvent nor GetEvents.'],
    ['a b --insecur', "Unknown option '--insecur'. Did you mean --insecure?"],
    ['a b --write .env', "Unknown option '--write'."],
    ['a', "Missing required argument 'new'."],
    ['a b --ca', "Option '--ca <file>' argument missing."],
  ])('cannot be %j', async (args, message) => {
    await expect(asked(args)).rejects.toThrow(new UsageError(`${message} See --help.`));
  });
});
