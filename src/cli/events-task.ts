import { resolve } from 'node:path';
import { urlToHttpOptions } from 'node:url';
import { parseArgs } from 'node:util';
import { PROTOCOLS, standardSecrets } from '../config/values';
import { ValueError } from '../config/variable';
import { MAX_SEARCH_TEXT } from '../log/event-log';
import type { Start } from '../log/readers';
import type { MessageOptions } from './forward/message';
import { parseSince, type Selection } from './scan';
import { misuse, quoted, type UsageError } from './terminal';

/** How the tool is used, as `--help` prints it. */
export const USAGE = `Works on the event log that EVENT_LOG names, also while the service runs.

Usage: asmx-webhook-events [--since WHEN] [--follow]
       asmx-webhook-events [--since WHEN] [--follow] --forward URL [--position FILE] [--raw] [--skip-refused]
       asmx-webhook-events --forward URL --event ID... | [--type TYPE] [--binding NAME] [--sender IP] [--text TEXT]
                                                          [--since WHEN] [--until WHEN]
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

  --forward URL    posts the events to an address instead of printing them, in order, each until it was taken; give it several
                   times for several addresses, none of which waits for another
  --position FILE  keeps in a file how far that came, and goes on from there the next time, whatever --since says then; with
                   several addresses give one for each, in the same order
  --raw            posts the payload as it came, instead of the CloudEvent
  --skip-refused   passes over events that are answered with 4xx, instead of ending
  --secret SECRET  signs what is posted (Standard Webhooks) with whsec_ and base64; all users of the machine see arguments,
                   but not the variable FORWARD_SECRETS

With --forward, to post only some events, once; how far forwarding came is neither read nor changed:

  --event ID       the event with this id or sequence; give it several times for several events
  --type TYPE      all events with exactly this type; with several of these options, those for which all of them hold
  --binding NAME   all that came over soap11, soap12, httpget or httppost
  --sender IP      all that came from this address
  --text TEXT      all with this text in their attributes, their data or how they arrived
  --since WHEN     all since then; alone it selects nothing, but says where to begin
  --until WHEN     all before a time, or up to a sequence

Exit code: 0 done, 1 failed, (--verify) not whole, or (--event, a search) some not found or not taken, 2 arguments that make no
sense, 3 the address refused an event or redirected it.`;

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

/** An address to which events are posted. */
export interface ForwardTarget {
  /** http or https; may hold a user and a password. */
  readonly url: URL;
  /** The file that keeps how far the log was forwarded to the target, if one does. */
  readonly position: string | undefined;
}

/** Posting events to addresses. */
export interface ForwardTask extends MessageOptions {
  readonly name: 'forward';
  /** At least one. */
  readonly targets: readonly ForwardTarget[];
  /** Where to begin; by default with the events that are yet to be recorded. A position that was kept comes first. */
  readonly since: Start | undefined;
  /** Whether to go on with events that are recorded from now on. */
  readonly follow: boolean;
  /** Only some events, once each; by default those from `since` on. Leaves the position alone. */
  readonly selection: Selection | undefined;
  /** Whether to go on after an event that the target refused. */
  readonly skipRefused: boolean;
}

/** A {@link Task} that works on the event log. */
export type LogTask = Exclude<Task, { name: 'help' } | { name: 'version' }>;

const FORWARD_FLAGS = ['raw', 'skip-refused'];
const SEARCH = ['type', 'binding', 'sender', 'text', 'until'] as const;
const UPKEEP = ['verify', 'compact'] as const;
const FLAGS = ['follow', 'help', 'version', ...UPKEEP, ...FORWARD_FLAGS];
const FILES = ['export', 'import', 'backup', 'restore'] as const;
const TASKS = [...FILES, ...UPKEEP, 'forward', 'forget'] as const;
/** Options that may be given several times. */
const REPEATABLE = ['forget', 'event', 'forward', 'position'];
const NEEDS: ReadonlyMap<string, string> = new Map([
  ['since', 'a duration, a time or a sequence'],
  ...FILES.map((name): [string, string] => [name, 'the name of a file']),
  ['forward', 'an address'],
  ['forget', 'an id or a sequence'],
  ['event', 'an id or a sequence'],
  ['type', 'a type'],
  ['binding', 'the name of a binding'],
  ['sender', 'an address'],
  ['text', 'a text'],
  ['until', 'a duration, a time or a sequence'],
  ['position', 'the name of a file'],
  ['secret', 'a secret'],
]);

/**
 * Reads the arguments of the command line.
 *
 * @throws {UsageError} they are unknown, contradict each other or ask for nothing.
 */
export function parseTask(args: readonly string[]): Task {
  const given = optionsIn(args);
  if (given.has('help')) return { name: 'help' };
  if (given.has('version')) return { name: 'version' };
  const [name, another] = TASKS.filter((option) => given.has(option));
  const since = startIn(given, 'since');
  const follow = given.has('follow');
  if (another !== undefined && name !== undefined) throw contradiction(name, another);
  if (name === 'forward') return forwardTask(given, since, follow);
  const orphan = [...FORWARD_FLAGS, 'position', 'secret', 'event', ...SEARCH].find((option) => given.has(option));
  if (orphan !== undefined) throw misuse(`--${orphan} needs --forward.`);
  if (name === undefined) {
    if (follow || since !== undefined) return { name: 'print', since, follow };
    throw misuse(
      'Nothing to do: give --since, --follow, --forward, --export, --import, --backup, --restore, --verify, --compact or --forget.',
    );
  }
  if (follow) throw contradiction(name, 'follow');
  if (since !== undefined && name !== 'export') throw contradiction(name, 'since');
  if (name === 'forget') return { name, events: given.get(name) ?? [] };
  if (name === 'verify' || name === 'compact') return { name };
  const file = given.get(name)?.[0] ?? '';
  if (name === 'export') return { name, file, since };
  if (name === 'backup' && file === '-') throw misuse('--backup cannot write to standard output: name a file.');
  if (name === 'restore' && file === '-') throw misuse('--restore cannot read standard input: name a file.');
  return { name, file };
}

function forwardTask(given: Options, since: Start | undefined, follow: boolean): ForwardTask {
  const selection = selectionIn(given, since);
  if (!follow && since === undefined && !given.has('position') && selection === undefined)
    throw misuse('--forward needs --follow, --since, --position, --event or a search, which say what to forward.');
  return {
    name: 'forward',
    targets: targetsIn(given),
    since,
    follow,
    selection,
    secrets: secretsIn(given.get('secret')?.[0]),
    raw: given.has('raw'),
    skipRefused: given.has('skip-refused'),
  };
}

function selectionIn(given: Options, since: Start | undefined): Selection | undefined {
  const [name] = (['event', ...SEARCH] as const).filter((option) => given.has(option));
  if (name === undefined) return undefined;
  const others = name === 'event' ? ['follow', ...SEARCH, 'since'] : ['follow'];
  const other = others.find((option) => given.has(option));
  if (other !== undefined) throw contradiction(name, other);
  if (name === 'event') return { names: given.get(name) ?? [] };
  const [type, binding, sender, text] = (['type', 'binding', 'sender', 'text'] as const).map(
    (option) => given.get(option)?.[0],
  );
  if (text !== undefined && text.length > MAX_SEARCH_TEXT)
    throw misuse(`--text can have at most ${String(MAX_SEARCH_TEXT)} characters.`);
  if (binding !== undefined && !PROTOCOLS.some((name) => name === binding))
    throw misuse(`--binding ${quoted(binding)} is not one of ${PROTOCOLS.join(', ')}.`);
  const until = startIn(given, 'until');
  // A sequence stands for its event and those before it.
  const before = until?.since === undefined ? until && until.after + 1n : undefined;
  return { search: { type, binding, sender, text, after: since?.after, from: since?.since, before, to: until?.since } };
}

/** Each target has the position that is given in the same place, so that none is left without one by mistake. */
function targetsIn(given: Options): ForwardTarget[] {
  const urls = (given.get('forward') ?? []).map(targetIn);
  const files = given.get('position') ?? [];
  if (files.includes('-')) throw misuse('--position cannot be standard output: name a file.');
  if (files.length > 0 && files.length !== urls.length)
    throw misuse('--position is needed once for each --forward, in the same order, or not at all.');
  if (new Set(files.map((file) => resolve(file))).size < files.length)
    throw misuse('Each --forward needs a --position of its own.');
  if (new Set(urls.map(String)).size < urls.length) throw misuse('--forward is given twice with the same address.');
  return urls.map((url, i) => ({ url, position: files[i] }));
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

/** Reads `--since` or `--until`. */
function startIn(given: Options, option: 'since' | 'until'): Start | undefined {
  const text = given.get(option)?.[0];
  if (text === undefined) return undefined;
  const start = parseSince(text);
  if (start !== undefined) return start;
  throw misuse(`--${option} ${quoted(text)} is not a duration (2h), a time (2026-01-31T12:00:00Z) or a sequence.`);
}

/** The options by name, each with its values; an option without one has an empty value. */
type Options = ReadonlyMap<string, readonly string[]>;

/** Positional arguments are events to forget. */
function optionsIn(args: readonly string[]): Options {
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
  const given = new Map<string, string[]>();
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue;
    if (token.kind === 'positional') {
      const events = given.get('forget');
      if (events === undefined) throw misuse(`${quoted(token.value)} is not an option.`);
      events.push(token.value);
      continue;
    }
    const { name, rawName, value } = token;
    const needed = NEEDS.get(name);
    if (needed !== undefined) requireValue(rawName, needed, value, token.inlineValue === true);
    else if (!FLAGS.includes(name)) throw misuse(`${quoted(rawName)} is not an option.`);
    else if (value !== undefined) throw misuse(`${rawName} takes no value.`);
    const values = given.get(name) ?? [];
    if (values.length > 0 && !REPEATABLE.includes(name)) throw misuse(`${rawName} is given twice.`);
    given.set(name, [...values, value ?? '']);
  }
  return given;
}

function requireValue(option: string, needed: string, value: string | undefined, isInline: boolean): void {
  if (value === undefined || value === '') throw misuse(`${option} needs ${needed}.`);
  if (isInline || value === '-' || !value.startsWith('-')) return;
  throw misuse(`${option} needs ${needed}. A value that begins with - is written ${option}=${value}.`);
}

function contradiction(one: string, other: string): UsageError {
  return misuse(`--${one} and --${other} cannot be used together.`);
}
