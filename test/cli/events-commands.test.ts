import { openSqliteLog } from '../../src/log/sqlite/event-log';
import { Sender } from '../../src/senders/sender';
import { useTemporaryFolder } from '../support/temporary-folder';
import { runToolHere } from '../support/tool-here';

describe('the arguments of the tool', () => {
  const folder = useTemporaryFolder();

  const run = (args: readonly string[]) => runToolHere(args, { EVENT_LOG: 'sqlite:events.db' }, folder.path);

  it.each([
    ['3000', 'http://localhost:3000'],
    ['3000/hook?a=b', 'http://localhost:3000'],
    [':3000', 'http://localhost:3000'],
    ['localhost:3000/hook', 'http://localhost:3000'],
    ['localhost/hook', 'http://localhost'],
    ['[::1]:3000', 'http://[::1]:3000'],
    ['h:80', 'http://h'],
    ['HTTPS://us:er@h/hook', 'https://h'],
  ])('name the target as %j', async (address, origin) => {
    await (await openSqliteLog({ file: `${folder.path}/events.db` })).close();
    const { errors } = await run(['forward', '--since', '0', address, '--tries', '5', '--skip-refused']);
    expect(errors).toBe(`Forwarding the events after 0 to ${origin}.\n0 events forwarded.\n`);
  });

  it('may begin with a hyphen after --', async () => {
    const { errors } = await run(['import', '--', '-x']);
    expect(errors).toBe('-x cannot be read: there is no such file or folder.\n');
  });

  it.each([
    [['--help'], /^Usage: asmx-webhook events \[options\] \[command\]\n[^]* {2}export \[options\] <file> /],
    [['export', '-h'], /^Usage: asmx-webhook events export \[options\] <file>\n[^]* {2}--since <when> /],
    [['help', 'forward'], /^Usage: asmx-webhook events forward \[options\] <url>\n[^]*Exit code: /],
    [['-v'], /^\d+\.\d+\.\d+ \([\w-]+\)\n$/],
  ])('%j are answered', async (args, page) => {
    expect(await run(args)).toEqual({ code: 0, output: expect.stringMatching(page) as unknown, errors: '' });
  });

  const NOTHING = 'Say what to remove: give ids or sequences, or a search.';
  const ADDRESS =
    'Give an address: http://127.0.0.1:3000/hook, localhost:3000/hook, or 3000 for a port of this machine.';
  const both = (option: string, other: string) => `Option '${option}' cannot be used with option '${other}`;
  it.each<readonly [args: string, problem: string]>([
    ['print --nonsense=secret', "Unknown option '--nonsense'."],
    ['print --sinec 2h', "Unknown option '--sinec'. Did you mean --since?"],
    ['forward http://h --folow', "Unknown option '--folow'. Did you mean --follow?"],
    ['exprot a', "Unknown command 'exprot'. Did you mean export?"],
    ['a\nb\u009b', "Unknown command 'a\\nb\\u009b'."],
    ['export', "Missing required argument 'file'."],
    ['export a b', "Too many arguments for 'export'. Expected 1 argument but got 2."],
    ...['forget', 'forget --since 1h', 'forget 7 --text x'].map((args) => [args, NOTHING] as const),
    ['print --since 1 --since 2', '--since is given twice.'],
    ['print --since', "Option '--since <when>' argument missing."],
    ['export ', 'The argument after export is empty.'],
    ['print --since=', '--since= is empty.'],
    [
      'forward http://h --position --follow',
      '--position needs a value. One that begins with - is written --position=--follow.',
    ],
    ['backup -', 'Standard input and output cannot be used here: name a file.'],
    ['forward http://h', 'Say what to forward: give --follow, --since, --position, --event or a search.'],
    ...['--follow', '--type=t', '--since=1', '--until=1', '--text=x', '--binding=soap11', '--sender=::1'].map(
      (option) => [`forward http://h --event a ${option}`, both('--event <id>', option.replace(/=.*/, ''))] as const,
    ),
    ['forward http://h --tries 2 --follow', both('--tries <number>', '--follow')],
    ['forward http://h --since 0 --tries 0', '--tries 0 is not a number from 1 on.'],
    ['forward http://h --until 1h --follow', both('--until <when>', '--follow')],
    ['forward http://h --binding soap13', '--binding soap13 is not one of soap11, soap12, httpget, httppost.'],
    ['print --sender github', '--sender github is not an address. --from-sender names a known sender.'],
    ['forward http://h --until 1h --position f', both('--until <when>', '--position <file>')],
    ['forward http://h --event a --position f', both('--event <id>', '--position <file>')],
    ['forward http://h --follow --sign trello=s', `--sign trello is not one of ${Sender.recognised.join(', ')}.`],
    ['forward http://h --follow --sign github', '--sign github is not SENDER=FILE.'],
    [`forward http://h --text ${'x'.repeat(201)}`, '--text can have at most 200 characters.'],
    ...['hook', '99999', 'ftp://us-er:heim@h', 'http://us-er:heim%zz@h'].map(
      (url) => [`forward ${url} --follow`, ADDRESS] as const,
    ),
    ...['yesterday', '2018-02-30'].map(
      (when) =>
        [
          `print --since ${when}`,
          `--since ${when} is not a duration (2h), a time (2026-01-31T12:00:00Z) or a sequence.`,
        ] as const,
    ),
  ])('are refused in one line: %j', async (args, problem) => {
    const { code, output, errors } = await run(args.split(' '));
    expect([code, output, errors.split('\n')]).toEqual([2, '', [expect.stringContaining(problem), '']]);
    expect(errors).toMatch(/ See --help\.\n$/);
    expect(errors).not.toContain('heim');
  });
});
