import { urlToHttpOptions } from 'node:url';
import { parseArgs } from 'node:util';
import { standardSecrets } from '../config/values';
import { ValueError } from '../config/variable';
import { parseSince, type Start } from './scan';
import { misuse, quoted, type UsageError } from './terminal';

/** How the tool is used, as `--help` prints it. */
export const USAGE = `Works on the event log that EVENT_LOG names, also while the service runs.

Usage: asmx-webhook-events [--since WHEN] [--follow]
       asmx-webhook-events [--since WHEN] [--follow] --forward URL [--position FILE] [--raw] [--skip-refused]
       asmx-webhook-events --export FILE [--since WHEN] | --import FILE | --backup FILE | --restore FILE
       asmx-webhook-events --verify | --compact | --forget ID...

  --since WHEN    prints the events since a duration ago (2h, 30d, P1DT12H), a time (RFC 3339) or after a sequence
  --follow        prints events as they are recorded: those --since, or from now on
  --export FILE   writes all events, or those --since, to a new file
  --import FILE   records the events of a file that are not in the log yet
  --backup FILE   copies a log in SQLite, as it is at one moment, to a new file
  --restore FILE  puts such a copy in the place of the log, which is kept beside it; stop the service first
  --verify        looks for damage in the log and in each event; a line for each finding
  --compact       gives the space of forgotten events in a SQLite file back to the file system
  --forget ID...  removes events for good, each named by its id or its sequence
  --help          prints this page
  --version       prints the version

One CloudEvent a line (NDJSON), with what the log keeps beside it in the member _log. FILE may be - for standard output or
input, except for --backup, --restore and --position.

With --forward:

  --forward URL    posts the events to an address instead of printing them, in order, each until it was taken
  --position FILE  keeps in a file how far that came, and goes on from there the next time, whatever --since says then
  --raw            posts the payload as it came, instead of the CloudEvent
  --skip-refused   passes over events that are answered with 4xx, instead of ending
  --secret SECRET  signs what is posted (Standard Webhooks) with whsec_ and base64; all users of the machine see arguments,
                   but not the variable FORWARD_SECRETS

Exit code: 0 done, 1 failed or (--verify) not whole, 2 arguments that make no sense, 3 the address refused an event or redirected it.`;

/** What the tool is asked to do. */
export type Task =
  | { readonly name: 'help' }
  | { readonly name: 'version' }
  | { readonly name: 'print'; readonly since: Start | undefined; readonly follow: boolean }
  | ForwardTask
  | { readonly name: 'export'; readonly file: string; readonly since: Start | undefined }
  | { readonly name: 'import'; readonly file: string }
  | { readonly name: 'backup' | 'restore'; readonly file: string }
  | { readonly name: 'verify' | 'compact' }
  /** `events`: an id or a sequence each. */
  | { readonly name: 'forget'; readonly events: readonly string[] };

/** Posting events to an address. */
export interface ForwardTask {
  readonly name: 'forward';
  /** http or https; may hold a user and a password. */
  readonly target: URL;
  /** Where to begin; undefined: with the events that are yet to be recorded. A position that was kept comes first. */
  readonly since: Start | undefined;
  /** Whether to go on with events that are recorded from now on. */
  readonly follow: boolean;
  /** The file that keeps how far the log was forwarded; undefined: nothing keeps it. */
  readonly position: string | undefined;
  /** As in `MessageOptions`. */
  readonly secrets: readonly string[] | undefined;
  /** As in `MessageOptions`. */
  readonly raw: boolean;
  /** Whether to go on after an event that the target refused. */
  readonly skipRefused: boolean;
}

/** A {@link Task} that works on the event log. */
export type LogTask = Exclude<Task, { name: 'help' } | { name: 'version' }>;

const FORWARD_FLAGS = ['raw', 'skip-refused'];
const UPKEEP = ['verify', 'compact'] as const;
const FLAGS = ['follow', 'help', 'version', ...UPKEEP, ...FORWARD_FLAGS];
const FILES = ['export', 'import', 'backup', 'restore'] as const;
const TASKS = [...FILES, ...UPKEEP, 'forward', 'forget'] as const;
const NEEDS: ReadonlyMap<string, string> = new Map([
  ['since', 'a duration, a time or a sequence'],
  ...FILES.map((name): [string, string] => [name, 'the name of a file']),
  ['forward', 'an address'],
  ['forget', 'an id or a sequence'],
  ['position', 'the name of a file'],
  ['secret', 'a secret'],
]);

/**
 * Reads the arguments of the command line.
 *
 * @throws {UsageError} they are unknown, contradict each other or ask for nothing.
 */
export function parseTask(args: readonly string[]): Task {
  const { given, events } = optionsIn(args);
  if (given.has('help')) return { name: 'help' };
  if (given.has('version')) return { name: 'version' };
  const [name, another] = TASKS.filter((option) => given.has(option));
  const since = sinceIn(given.get('since'));
  const follow = given.has('follow');
  if (another !== undefined && name !== undefined) throw contradiction(name, another);
  if (name === 'forward') return forwardTask(given, since, follow);
  const orphan = [...FORWARD_FLAGS, 'position', 'secret'].find((option) => given.has(option));
  if (orphan !== undefined) throw misuse(`--${orphan} needs --forward.`);
  if (name === undefined) {
    if (follow || since !== undefined) return { name: 'print', since, follow };
    throw misuse(
      'Nothing to do: give --since, --follow, --forward, --export, --import, --backup, --restore, --verify, --compact or --forget.',
    );
  }
  if (follow) throw contradiction(name, 'follow');
  if (since !== undefined && name !== 'export') throw contradiction(name, 'since');
  if (name === 'forget') return { name, events };
  if (name === 'verify' || name === 'compact') return { name };
  const file = given.get(name) ?? '';
  if (name === 'export') return { name, file, since };
  if (name === 'backup' && file === '-') throw misuse('--backup cannot write to standard output: name a file.');
  if (name === 'restore' && file === '-') throw misuse('--restore cannot read standard input: name a file.');
  return { name, file };
}

function forwardTask(given: ReadonlyMap<string, string>, since: Start | undefined, follow: boolean): ForwardTask {
  const position = given.get('position');
  if (position === '-') throw misuse('--position cannot be standard output: name a file.');
  if (!follow && since === undefined && position === undefined)
    throw misuse('--forward needs --follow, --since or --position, which say what to forward.');
  return {
    name: 'forward',
    target: targetIn(given.get('forward') ?? ''),
    since,
    follow,
    position,
    secrets: secretsIn(given.get('secret')),
    raw: given.has('raw'),
    skipRefused: given.has('skip-refused'),
  };
}

/** Messages do not show the address, which may hold a password. */
function targetIn(text: string): URL {
  try {
    const url = new URL(text);
    // Throws where user or password cannot be decoded.
    urlToHttpOptions(url);
    if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  } catch {
    // The error shows the text.
  }
  throw misuse('--forward needs an http or https address, as in http://127.0.0.1:3000/hook.');
}

function secretsIn(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined;
  try {
    return standardSecrets(text);
  } catch (error) {
    throw error instanceof ValueError ? misuse(`--secret ${error.message}.`) : error;
  }
}

function sinceIn(text: string | undefined): Start | undefined {
  if (text === undefined) return undefined;
  const since = parseSince(text);
  if (since !== undefined) return since;
  throw misuse(`--since ${quoted(text)} is not a duration (2h), a time (2026-01-31T12:00:00Z) or a sequence.`);
}

/** The options by name, each with its value; an option without one has an empty value. `events`: those to forget. */
function optionsIn(args: readonly string[]): { given: Map<string, string>; events: string[] } {
  const { tokens } = parseArgs({
    args: [...args],
    options: {
      ...Object.fromEntries(FLAGS.map((name) => [name, { type: 'boolean' as const }])),
      ...Object.fromEntries([...NEEDS.keys()].map((name) => [name, { type: 'string' as const }])),
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean', short: 'v' },
    },
    strict: false,
    tokens: true,
  });
  const given = new Map<string, string>();
  const events: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue;
    if (token.kind === 'positional') {
      if (!given.has('forget')) throw misuse(`${quoted(token.value)} is not an option.`);
      events.push(token.value);
      continue;
    }
    const { name, rawName, value } = token;
    if (!FLAGS.includes(name)) requireValue(token);
    else if (value !== undefined) throw misuse(`${rawName} takes no value.`);
    if (name === 'forget') events.push(value ?? '');
    else if (given.has(name)) throw misuse(`${rawName} is given twice.`);
    given.set(name, value ?? '');
  }
  return { given, events };
}

function requireValue({ name, rawName, value, inlineValue }: OptionToken): void {
  const needed = NEEDS.get(name);
  if (needed === undefined) throw misuse(`${quoted(rawName)} is not an option.`);
  if (value === undefined || value === '') throw misuse(`${rawName} needs ${needed}.`);
  if (inlineValue === true || value === '-' || !value.startsWith('-')) return;
  throw misuse(`${rawName} needs ${needed}. A value that begins with - is written ${rawName}=${value}.`);
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function contradiction(one: string, other: string): UsageError {
  return misuse(`--${one} and --${other} cannot be used together.`);
}
