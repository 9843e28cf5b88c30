import { parseTask, type Task } from '../../src/cli/events-task';
import { UsageError } from '../../src/cli/terminal';

const SECRET = 'whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4';
const to = (url: string, position?: string) => ({ url: new URL(url), position });
const FORWARD = {
  name: 'forward',
  targets: [to('http://h/')],
  since: undefined,
  follow: false,
  selection: undefined,
  secrets: undefined,
  raw: false,
  skipRefused: false,
} as const;

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
    [['--verify'], { name: 'verify' }],
    [['--compact'], { name: 'compact' }],
    [['--forget', 'a'], { name: 'forget', events: ['a'] }],
    [['--forget=-a', 'b', '--forget', '7', '--', '-c'], { name: 'forget', events: ['-a', 'b', '7', '-c'] }],
    [
      ['--follow', '--forward', 'http://u:p@[::1]:3000/hook?a=b'],
      { ...FORWARD, targets: [to('http://u:p@[::1]:3000/hook?a=b')], follow: true },
    ],
    [['--since', '7', '--forward', 'HTTPS://h'], { ...FORWARD, targets: [to('https://h/')], since: { after: 7n } }],
    [
      ['--forward', 'http://h', '--position', 'p', '--raw', '--skip-refused', '--secret', `${SECRET},${SECRET}`],
      { ...FORWARD, targets: [to('http://h/', 'p')], raw: true, skipRefused: true, secrets: [SECRET, SECRET] },
    ],
    [
      ['--forward', 'http://h', '--position', 'p', '--forward', 'http://h/b', '--position', 'q'],
      { ...FORWARD, targets: [to('http://h/', 'p'), to('http://h/b', 'q')] },
    ],
    [
      ['--forward', 'http://h', '--forward', 'http://h/b', '--follow'],
      { ...FORWARD, targets: [to('http://h/'), to('http://h/b')], follow: true },
    ],
    [
      ['--event', '17', '--forward', 'http://h', '--event=-a', '--position', 'p'],
      { ...FORWARD, targets: [to('http://h/', 'p')], selection: { names: ['17', '-a'] } },
    ],
    [
      [
        ...['--forward', 'http://h', '--type', 't', '--binding=soap11', '--sender', '::1', '--text=-x'],
        ...['--since', '7', '--until', '9'],
      ],
      {
        ...FORWARD,
        since: { after: 7n },
        selection: { search: { type: 't', binding: 'soap11', sender: '::1', text: '-x', after: 7n, before: 10n } },
      },
    ],
    [
      ['--forward', 'http://h', '--since', '2026-01-30', '--until', '2026-01-31T12:00:00Z'],
      {
        ...FORWARD,
        since: { after: 0n, since: Date.UTC(2026, 0, 30) },
        selection: { search: { after: 0n, from: Date.UTC(2026, 0, 30), to: Date.UTC(2026, 0, 31, 12) } },
      },
    ],
  ])('%j are understood', (args, task) => {
    expect(parseTask(args)).toEqual(task);
  });

  it.each([
    [
      [],
      'Nothing to do: give --since, --follow, --forward, --export, --import, --backup, --restore, --verify, --compact or --forget.',
    ],
    [['--nonsense'], '--nonsense is not an option.'],
    [['--nonsense=x'], '--nonsense is not an option.'],
    [['-x'], '-x is not an option.'],
    [['events.ndjson'], 'events.ndjson is not an option.'],
    [['a\nb\u009b'], 'a\\nb\\u009b is not an option.'],
    [['--export', 'a', '--import', 'b'], '--export and --import cannot be used together.'],
    [['--export', 'a', '--follow'], '--export and --follow cannot be used together.'],
    [['--import', 'a', '--since', '1h'], '--import and --since cannot be used together.'],
    [['--backup', 'a', '--since', '1h'], '--backup and --since cannot be used together.'],
    [['--verify', '--compact'], '--verify and --compact cannot be used together.'],
    [['--forget', 'a', '--since', '1h'], '--forget and --since cannot be used together.'],
    [['--forget'], '--forget needs an id or a sequence.'],
    [['a', '--forget', 'b'], 'a is not an option.'],
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
    [['--forward'], '--forward needs an address.'],
    [
      ['--forward', 'http://h'],
      '--forward needs --follow, --since, --position, --event or a search, which say what to forward.',
    ],
    ...['--follow', '--type=t', '--since=1', '--until=1', '--text=x', '--binding=b'].map(
      (option): [string[], string] => [
        ['--forward', 'http://h', '--event', 'a', option],
        `--event and ${option.replace(/=.*/, '')} cannot be used together.`,
      ],
    ),
    ...[
      ['--forward', 'http://h', '--position', 'p', '--forward', 'http://i'],
      ['--forward', 'http://h', '--position', 'p', '--position', 'q'],
    ].map((args): [string[], string] => [
      args,
      '--position is needed once for each --forward, in the same order, or not at all.',
    ]),
    [
      ['--forward', 'http://h', '--position', 'p', '--forward', 'http://i', '--position', './p'],
      'Each --forward needs a --position of its own.',
    ],
    [
      ['--forward', 'http://h', '--follow', '--forward', 'http://h/'],
      '--forward is given twice with the same address.',
    ],
    [['--forward', 'http://h', '--until', '1h', '--follow'], '--until and --follow cannot be used together.'],
    [['--forward', 'http://h', '--event'], '--event needs an id or a sequence.'],
    [['--forward', 'http://h', '--type', ''], '--type needs a type.'],
    [
      ['--forward', 'http://h', '--binding', 'soap13'],
      '--binding soap13 is not one of soap11, soap12, httpget, httppost.',
    ],
    [['--forward', 'http://h', '--text', 'x'.repeat(201)], '--text can have at most 200 characters.'],
    [
      ['--forward', 'http://h', '--until', 'tomorrow'],
      '--until tomorrow is not a duration (2h), a time (2026-01-31T12:00:00Z) or a sequence.',
    ],
    [['--forward', 'http://h', '--export', 'a'], '--export and --forward cannot be used together.'],
    [['--forward', 'http://h', '--follow', '--position', '-'], '--position cannot be standard output: name a file.'],
    [['--forward', 'http://h', '--follow', '--position', ''], '--position needs the name of a file.'],
    [['--forward', 'http://h', '--follow', '--raw=1'], '--raw takes no value.'],
    ...['--raw', '--skip-refused', '--position=p', `--secret=${SECRET}`, '--event=1', '--type=t', '--until=1h'].map(
      (option): [string[], string] => [['--follow', option], `${option.replace(/=.*/, '')} needs --forward.`],
    ),
    ...['h:80', '/hook', 'ftp://us-er:heim@h', 'http://us-er:heim%zz@h', 'http://us-er:heim@h:99999'].map(
      (url): [string[], string] => [
        ['--follow', '--forward', url],
        '--forward needs an http or https address, as in http://127.0.0.1:3000/hook.',
      ],
    ),
    ...['heim', 'whsec_heim', `${SECRET},heim`, `WHSEC_${SECRET.slice(6)}`].map((secret): [string[], string] => [
      ['--follow', '--forward', 'http://h', '--secret', secret],
      '--secret must be whsec_ and base64 of 16 bytes or more; several are separated by commas' +
        (secret.includes(',') ? '; number 2 of the list is wrong.' : '.'),
    ]),
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
