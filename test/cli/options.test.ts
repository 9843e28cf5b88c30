import { parseTask, UsageError, type Task } from '../../src/cli/options';

describe('the arguments of the tool', () => {
  it.each<[string[], Task]>([
    [['--help'], { name: 'help' }],
    [['-h'], { name: 'help' }],
    [['--import', 'x', '--help'], { name: 'help' }],
    [['--version'], { name: 'version' }],
    [['-v'], { name: 'version' }],
    [['--follow'], { name: 'print', since: undefined, follow: true }],
    [['--since=7'], { name: 'print', since: { after: 7n }, follow: false }],
    [['--export', '-'], { name: 'export', file: '-', since: undefined }],
    [
      ['--export', 'a', '--since', '2026-01-31T12:00:00+01:00'],
      { name: 'export', file: 'a', since: { after: 0n, since: Date.UTC(2026, 0, 31, 11) } },
    ],
    [
      ['--since', '2026-01-31', '--follow'],
      { name: 'print', since: { after: 0n, since: Date.UTC(2026, 0, 31) }, follow: true },
    ],
    [['--import=-x'], { name: 'import', file: '-x' }],
    [['--backup', 'a'], { name: 'backup', file: 'a' }],
  ])('%j are understood', (args, task) => {
    expect(parseTask(args)).toEqual(task);
  });

  it.each([
    [[], 'Nothing to do: give --since, --follow, --export, --import or --backup.'],
    [['--nonsense'], '--nonsense is not an option.'],
    [['--nonsense=x'], '--nonsense is not an option.'],
    [['-x'], '-x is not an option.'],
    [['events.ndjson'], 'events.ndjson is not an option.'],
    [['a\nb'], 'a\\nb is not an option.'],
    [['--export', 'a', '--import', 'b'], '--export and --import cannot be used together.'],
    [['--export', 'a', '--follow'], '--export and --follow cannot be used together.'],
    [['--import', 'a', '--since', '1h'], '--import and --since cannot be used together.'],
    [['--backup', 'a', '--since', '1h'], '--backup and --since cannot be used together.'],
    [['--export', 'a', '--export', 'b'], '--export is given twice.'],
    [['--follow=yes'], '--follow takes no value.'],
    [['--since'], '--since needs a duration, a time or a sequence.'],
    [['--export', ''], '--export needs the name of a file.'],
    [['--import', ''], '--import needs the name of a file.'],
    [['--backup', ''], '--backup needs the name of a file.'],
    [['--backup='], '--backup needs the name of a file.'],
    [['--backup', '-'], '--backup cannot write to standard output: name a file.'],
    [
      ['--export', '--since', '1h'],
      '--export needs the name of a file. A value that begins with - is written --export=--since.',
    ],
    ...[
      'yesterday',
      '2018-02-30T00:00:00Z',
      '2018-02-30',
      '2018-04-05T24:00:00Z',
      '2018-04-05T17:31:00+24:00',
      '1w',
    ].map((when): [string[], string] => [
      ['--since', when],
      `--since ${when} is not a duration (2h), a time (2026-01-31T12:00:00Z) or a sequence.`,
    ]),
  ])('are refused in one line as %j', (args, problem) => {
    expect(() => parseTask(args)).toThrow(new UsageError(`${problem} See --help.`));
  });
});
