import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventLog } from '../../src/log/event-log';
import { openSqliteLog } from '../../src/log/sqlite/event-log';
import { Sender } from '../../src/senders/sender';
import { newEvent } from '../support/events';
import { eventually } from '../support/eventually';
import { useService } from '../support/service';
import { startTarget, type Target } from '../support/target';
import { useTemporaryFolder } from '../support/temporary-folder';
import { runToolHere, startToolHere } from '../support/tool-here';

const KEY = 'a-read-key-of-16-chars';

/** Records four events, of two types, bindings and senders, a day apart. */
async function recordSamples(log: EventLog): Promise<void> {
  for (const [i, id] of [...'abcd'].entries()) {
    const [binding, sender] = i < 2 ? ['httppost', 'github'] : ['soap11', 'stripe'];
    const type = i % 2 === 1 ? 'ref.und' : 'order';
    const attributes = JSON.stringify({ specversion: '1.0', id, source: '/test', type, binding });
    const headers = { host: 'h', 'x-a': 'b=c', 'x-b': String(i) };
    const arrival = JSON.stringify({ headers, 'webhook-sender': sender });
    const recordedAt = Date.UTC(2026, 0, i + 1);
    await log.append(newEvent({ id, attributes, arrival, data: `"data":"${id}-at"`, recordedAt }));
  }
}

const idsIn = (text: string) => [...text.matchAll(/"id":"(\w+)"/g)].map(([, id]) => id).join('');

describe('the arguments of the tool', () => {
  const folder = useTemporaryFolder();
  const service = useService();

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
    const { errors } = await run(['forward', '--since', '0', address, '--skip-refused', '--from', service.url]);
    expect(errors).toBe(`Forwarding the events after 0 to ${origin}.\n0 events forwarded.\n`);
  });

  it('may name a time before the year 0', async () => {
    const { errors } = await run(['print', '--since', '999999d', '--from', service.url]);
    expect(errors).toBe('There are no events.\n');
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
    ...['', ' --since 1h', ' 7 --text x', ' 7 --since 1h'].map((args) => [`forget${args}`, NOTHING] as const),
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
    ['forward http://h --until 1h --follow', both('--until <when>', '--follow')],
    ['forward http://h --binding soap13', '--binding soap13 is not one of soap11, soap12, httpget, httppost.'],
    ['print --sender github', '--sender github is not an address. --from-sender names a known sender.'],
    ['forward http://h --until 1h --position f', both('--until <when>', '--position <file>')],
    ['forward http://h --event a --position f', both('--event <id>', '--position <file>')],
    ['forward http://h --follow --sign trello=s', `--sign trello is not one of ${Sender.recognised.join(', ')}.`],
    ['trigger trello', `The sender trello is not one of ${Sender.recognised.join(', ')}.`],
    ['forward http://h --follow --sign github', '--sign github is not SENDER=FILE.'],
    ['print --key-file k', '--key-file goes with --from.'],
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

describe('the events that options choose', () => {
  const folder = useTemporaryFolder();
  const service = useService({ READ_KEYS: KEY });
  let target: Target;
  beforeAll(async () => {
    target = await startTarget(({ path }) => (path === '/no' ? 404 : 204));
    await recordSamples(service.log);
  });
  afterAll(() => target.close());
  beforeEach(() => writeFile(join(folder.path, 'keys'), `reader ${KEY},another-key-of-16-chars\n`));

  const start = (args: string) =>
    startToolHere(`${args} --from ${service.url}/RecordEvent/x --key-file keys`.split(' '), {}, folder.path);
  const run = async (args: string) => {
    const tool = start(args.replace('URL', target.url));
    return [await tool.ended, idsIn(tool.output() || String(target.received.splice(0).map(({ body }) => body)))];
  };

  it.each<[args: string, ids: string, code?: number]>([
    ['print --type ref.*', 'bd'],
    ['print --header X-A=b=c --header x-b=1', 'b'],
    ['print --from-sender github --since 1', 'b'],
    ['print --since 20000d', 'abcd'],
    ['print --since 2026-01-03T00:00:00Z', 'cd'],
    ['export - --since 2', 'cd'],
    ['forward URL --text D-AT', 'd'],
    ['forward URL --since 1 --until 3', 'bc'],
    ['forward URL --since 2026-01-02 --until 2026-01-04', 'bc'],
    ['forward URL --binding httppost --since 1', 'b'],
    ['forward URL --from-sender stripe --header X-B=3', 'd'],
    ['forward URL --event 4 --event a', 'ad'],
    ['forward URL/no --type order', 'ac', 1],
  ])('are taken in log order from a service elsewhere: %s', async (args, ids, code = 0) => {
    expect(await run(args)).toEqual([code, ids]);
  });

  it.each([
    ['print --type none', 0, 'None of 4 events was printed.\n'],
    ['print --since 1h', 0, 'There are no events.\n'],
    ['forward http://h --type none', 1, /^0 events forwarded\.\nNo event was found\.\n$/m],
  ])('may be none, which is said: %s', async (args, code, errors) => {
    const tool = start(args);
    expect([await tool.ended, tool.output()]).toEqual([code, '']);
    expect(tool.errors()).toMatch(errors);
  });

  it('are posted as they arrived and signed anew with --sign alone, once for each sender', async () => {
    await writeFile(join(folder.path, 'secret'), 'of the sender\n');
    const forward = `forward ${target.url} --event a --sign github=secret`;
    expect(await start(`${forward} --sign github=secret`).ended).toBe(2);
    expect(await start(forward).ended).toBe(0);
    const signature = expect.stringMatching(/^sha256=[\da-f]{64}$/) as string;
    expect(target.received.pop()?.headers).toMatchObject({ 'x-a': 'b=c', 'x-hub-signature-256': signature });
  });

  it('are those after the start of follow, which counts them, and those without others that are removed', async () => {
    const log = await openSqliteLog({ file: join(folder.path, 'events.db') });
    await recordSamples(log);
    const variables = { EVENT_LOG: 'sqlite:events.db' };
    const follower = startToolHere(['follow', '--type', 'test'], variables, folder.path);
    await follower.said('Waiting for events after 4.\n');
    await log.append(newEvent({ id: 'e' }));
    await eventually('it is printed', () => idsIn(follower.output()) === 'e');
    await follower.end('SIGTERM');
    expect(follower.errors()).toBe('Waiting for events after 4.\n1 event printed.\n');
    const forget = ['forget', '--from-sender', 'github', '--header', 'X-B=1'];
    const dry = await runToolHere([...forget, '--dry-run'], variables, folder.path);
    expect([dry.errors, (await log.stats()).events]).toEqual(['1 event would be removed.\n', 5]);
    expect((await runToolHere(forget, variables, folder.path)).errors).toMatch(/^1 removed\./);
    expect((await log.scan({ after: 0, limit: 9 })).map(({ id }) => id)).toEqual(['a', 'c', 'd', 'e']);
    await log.close();
  });
});
