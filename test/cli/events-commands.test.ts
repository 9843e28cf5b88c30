import { UsageError } from '../../src/cli/terminal';
import { Sender } from '../../src/senders/sender';
import { askedFor } from '../support/events-command';

const SECRET = 'whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4';
const FORWARD = {
  url: new URL('http://h/'),
  position: undefined,
  since: undefined,
  follow: false,
  selection: undefined,
  filter: undefined,
  secrets: undefined,
  skipRefused: false,
  tries: 3,
} as const;

/** The log that EVENT_LOG names, and all of its events. */
const HERE = {};
const ALL = { headers: [] };

describe('the arguments of the tool', () => {
  afterEach(() => jest.restoreAllMocks());

  it.each<[string[], unknown[]]>([
    [['print'], ['print', HERE, { after: 0 }, { ...ALL, json: false }]],
    [
      ['print', '--since=7'],
      ['print', HERE, { after: 7 }, { ...ALL, json: false }],
    ],
    [['follow'], ['follow', HERE, undefined, { ...ALL, json: false }]],
    [
      ['follow', '--json', '--type', 't'],
      ['follow', HERE, undefined, { headers: [], type: 't', json: true }],
    ],
    [
      ['follow', '--since', '2026-01-31'],
      ['follow', HERE, { after: 0, since: Date.UTC(2026, 0, 31) }, { ...ALL, json: false }],
    ],
    [
      ['export', '-'],
      ['export', HERE, '-', { after: 0 }],
    ],
    [
      ['export', 'a', '--since', '2026-01-31T12:00:00+01:00'],
      ['export', HERE, 'a', { after: 0, since: Date.UTC(2026, 0, 31, 11) }],
    ],
    [
      ['import', '--', '-x'],
      ['import', '-x'],
    ],
    [
      ['backup', 'a'],
      ['backup', 'a'],
    ],
    [
      ['restore', 'a'],
      ['restore', 'a'],
    ],
    [['verify'], ['verify']],
    [['compact'], ['compact']],
    [
      ['forget', 'b', '7', '--', '-c'],
      ['forget', { names: ['b', '7', '-c'] }, {}],
    ],
    [
      ['forget', '--text', 'x', '--until', '9', '--dry-run'],
      ['forget', { search: { text: 'x', before: 10 }, headers: [] }, { text: 'x', until: { after: 9 }, dryRun: true }],
    ],
    [
      ['forward', 'http://u:p@[::1]:3000/hook?a=b', '--follow'],
      ['forward', HERE, { ...FORWARD, url: new URL('http://u:p@[::1]:3000/hook?a=b'), follow: true, filter: ALL }],
    ],
    ...[
      ['3000', 'http://localhost:3000'],
      ['3000/hook?a=b', 'http://localhost:3000/hook?a=b'],
      [':3000', 'http://localhost:3000'],
      ['localhost:3000/hook', 'http://localhost:3000/hook'],
      ['localhost/hook', 'http://localhost/hook'],
      ['[::1]:3000', 'http://[::1]:3000'],
      ['h:80', 'http://h'],
    ].map(([address = '', url = '']): [string[], unknown[]] => [
      ['forward', address, '--since', '7', '--tries', '5'],
      ['forward', HERE, { ...FORWARD, url: new URL(url), since: { after: 7 }, tries: 5 }],
    ]),
    [
      ['forward', '--since', '7', 'HTTPS://h'],
      ['forward', HERE, { ...FORWARD, url: new URL('https://h/'), since: { after: 7 } }],
    ],
    [
      ['forward', 'http://h', '--position', 'p', '--skip-refused', '--secret', `${SECRET},${SECRET}`],
      ['forward', HERE, { ...FORWARD, position: 'p', skipRefused: true, secrets: [SECRET, SECRET] }],
    ],
    [
      ['forward', 'http://h', '--since', '7', '--as-received', '--sign', 'standard-webhooks', '--secret-file', 's'],
      [
        'forward',
        HERE,
        {
          ...FORWARD,
          since: { after: 7 },
          received: { signer: { sender: Sender.all[0], secretFile: 's' } },
        },
      ],
    ],
    [
      ['forward', 'http://h', '--since', '7', '--as-received'],
      ['forward', HERE, { ...FORWARD, since: { after: 7 }, received: { signer: undefined } }],
    ],
    [
      ['forward', 'http://h', '--since', '7', '--metrics-port', '9465'],
      ['forward', HERE, { ...FORWARD, since: { after: 7 }, metricsPort: 9465 }],
    ],
    [
      ['forward', '--event', '17', 'http://h', '--event=-a', '--position', 'p'],
      ['forward', HERE, { ...FORWARD, position: 'p', selection: { names: ['17', '-a'] } }],
    ],
    [
      [
        ...['forward', 'http://h', '--type', 't', '--binding=soap11', '--sender', '::1', '--text=-x'],
        ...['--since', '7', '--until', '9'],
      ],
      [
        'forward',
        HERE,
        {
          ...FORWARD,
          since: { after: 7 },
          selection: {
            search: { type: 't', binding: 'soap11', sender: '::1', text: '-x', after: 7, before: 10 },
            headers: [],
          },
        },
      ],
    ],
    [
      ['forward', 'http://h', '--since', '2026-01-30', '--until', '2026-01-31T12:00:00Z'],
      [
        'forward',
        HERE,
        {
          ...FORWARD,
          since: { after: 0, since: Date.UTC(2026, 0, 30) },
          selection: { search: { after: 0, from: Date.UTC(2026, 0, 30), to: Date.UTC(2026, 0, 31, 12) }, headers: [] },
        },
      ],
    ],
  ])('%j are understood', async (args, asked) => {
    expect(await askedFor(args)).toEqual(asked);
  });

  it.each([
    [['--help'], /^Usage: asmx-webhook-events \[options\] \[command\]\n[^]* {2}export \[options\] <file> /],
    [['-h'], /^Usage: asmx-webhook-events \[options\] \[command\]\n/],
    [['export', '--help'], /^Usage: asmx-webhook-events export \[options\] <file>\n[^]* {2}--since <when> /],
    [['help', 'forward'], /^Usage: asmx-webhook-events forward \[options\] <url>\n[^]*Exit code: /],
    [['--version'], /^\d+\.\d+\.\d+ \([\w-]+\)\n$/],
    [['-v'], /^\d+\.\d+\.\d+ \([\w-]+\)\n$/],
  ])('%j are answered', async (args, page) => {
    const write = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    expect(await askedFor(args)).toEqual([]);
    expect(write.mock.calls.map(([text]) => text).join('')).toMatch(page);
  });

  it.each([
    [['--nonsense'], "Unknown option '--nonsense'."],
    [['print', '--nonsense=secret'], "Unknown option '--nonsense'."],
    [['print', '--sinec', '2h'], "Unknown option '--sinec'. Did you mean --since?"],
    [['forward', 'http://h', '--secrte', SECRET], "Unknown option '--secrte'. Did you mean --secret?"],
    [['print', '-x'], "Unknown option '-x'."],
    [['events.ndjson'], "Unknown command 'events.ndjson'."],
    [['exprot', 'a'], "Unknown command 'exprot'. Did you mean export?"],
    [['a\nb\u009b'], "Unknown command 'a\\nb\\u009b'."],
    [['export'], "Missing required argument 'file'."],
    [['export', 'a', 'b'], "Too many arguments for 'export'. Expected 1 argument but got 2."],
    [['export', 'a', '--follow'], "Unknown option '--follow'."],
    [['import', 'a', '--since', '1h'], "Unknown option '--since'."],
    ...[[], ['--since', '1h'], ['7', '--text', 'x']].map((args): [string[], string] => [
      ['forget', ...args],
      'Say what to remove: give ids or sequences, or a search.',
    ]),
    [['print', '--since', '1', '--since', '2'], '--since is given twice.'],
    [['forward', 'http://h', '--type', 't', '--type=u'], '--type is given twice.'],
    [['print', '--since'], "Option '--since <when>' argument missing."],
    [['export', ''], 'The argument after export is empty.'],
    [['print', '--since='], '--since= is empty.'],
    [['forward', 'http://h', '--type', ''], 'The argument after --type is empty.'],
    [
      ['forward', 'http://h', '--position', '--follow'],
      '--position needs a value. One that begins with - is written --position=--follow.',
    ],
    [['backup', '-'], 'Standard input and output cannot be used here: name a file.'],
    [['restore', '-'], 'Standard input and output cannot be used here: name a file.'],
    [['forward', 'http://h', '--position', '-'], 'Standard input and output cannot be used here: name a file.'],
    [
      ['forward', 'http://h', '--follow', '--metrics-port', '65536'],
      /^--metrics-port must be a whole number from 0 to 65535/,
    ],
    [['forward'], "Missing required argument 'url'."],
    [['forward', 'http://h'], 'Say what to forward: give --follow, --since, --position, --event or a search.'],
    ...['--follow', '--type=t', '--since=1', '--until=1', '--text=x', '--binding=soap11', '--sender=s'].map(
      (option): [string[], RegExp] => [
        ['forward', 'http://h', '--event', 'a', option],
        new RegExp(`^Option '--event <id>' cannot be used with option '${option.replace(/=.*/, '')}( <\\w+>)?'\\.`),
      ],
    ),
    [
      ['forward', 'http://h', '--tries', '2', '--follow'],
      "Option '--tries <number>' cannot be used with option '--follow'.",
    ],
    [['forward', 'http://h', '--since', '0', '--tries', '0'], '--tries 0 is not a number from 1 on.'],
    [
      ['forward', 'http://h', '--until', '1h', '--follow'],
      "Option '--until <when>' cannot be used with option '--follow'.",
    ],
    [
      ['forward', 'http://h', 'http://i', '--follow'],
      "Too many arguments for 'forward'. Expected 1 argument but got 2.",
    ],
    [['forward', 'http://h', '--position', 'p', '--position', 'q'], '--position is given twice.'],
    [
      ['forward', 'http://h', '--binding', 'soap13'],
      '--binding soap13 is not one of soap11, soap12, httpget, httppost.',
    ],
    [
      ['forward', 'http://h', '--follow', '--as-received', '--sign', 'GitHub'],
      '--sign GitHub is not one of standard-webhooks, svix, github, gitlab, stripe, shopify, slack.',
    ],
    ...[
      ['--as-received', '--sign', 'github'],
      ['--as-received', '--secret-file', 's'],
      ['--sign', 'github', '--secret-file', 's'],
    ].map((args): [string[], string] => [
      ['forward', 'http://h', '--follow', ...args],
      '--sign and --secret-file go together, with --as-received.',
    ]),
    [['forward', 'http://h', '--text', 'x'.repeat(201)], '--text can have at most 200 characters.'],
    [
      ['forward', 'http://h', '--until', 'tomorrow'],
      '--until tomorrow is not a duration (2h), a time (2026-01-31T12:00:00Z) or a sequence.',
    ],
    ...[
      'hook',
      '/hook',
      '99999',
      'us-er:80@h',
      'ftp://us-er:heim@h',
      'http://us-er:heim%zz@h',
      'http://us-er:heim@h:99999',
    ].map((url): [string[], string] => [
      ['forward', url, '--follow'],
      'forward needs an address: http://127.0.0.1:3000/hook, localhost:3000/hook, or 3000 for a port of this machine.',
    ]),
    ...['heim', 'whsec_heim', `${SECRET},heim`, `WHSEC_${SECRET.slice(6)}`].map((secret): [string[], string] => [
      ['forward', 'http://h', '--follow', '--secret', secret],
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
      ['print', '--since', when],
      `--since ${when} is not a duration (2h), a time (2026-01-31T12:00:00Z) or a sequence.`,
    ]),
  ])('are refused in one line as %j', async (args, problem) => {
    const expected = typeof problem === 'string' ? new UsageError(`${problem} See --help.`) : problem;
    await expect(askedFor(args)).rejects.toThrow(expected);
  });
});
