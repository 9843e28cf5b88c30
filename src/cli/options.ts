import { urlToHttpOptions } from 'node:url';
import { parseArgs } from 'node:util';
import { standardSecrets } from '../config/values';
import { ValueError } from '../config/variable';
import { quoted } from './quoted';
import { parseSince, type Start } from './since';

/** What the tool is asked to do. */
export type Task =
  | { readonly name: 'help' }
  | { readonly name: 'version' }
  | { readonly name: 'print'; readonly since: Start | undefined; readonly follow: boolean }
  | ForwardTask
  | { readonly name: 'export'; readonly file: string; readonly since: Start | undefined }
  | { readonly name: 'import'; readonly file: string }
  | { readonly name: 'backup'; readonly file: string }
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

/** Thrown when the arguments cannot be used; the message is one line and names what is wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const FORWARD_FLAGS = ['raw', 'skip-refused'];
const UPKEEP = ['verify', 'compact'] as const;
const FLAGS = ['follow', 'help', 'version', ...UPKEEP, ...FORWARD_FLAGS];
const FILES = ['export', 'import', 'backup'] as const;
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
      'Nothing to do: give --since, --follow, --forward, --export, --import, --backup, --verify, --compact or --forget.',
    );
  }
  if (follow) throw contradiction(name, 'follow');
  if (since !== undefined && name !== 'export') throw contradiction(name, 'since');
  if (name === 'forget') return { name, events };
  if (name === 'verify' || name === 'compact') return { name };
  const file = given.get(name) ?? '';
  if (name === 'export') return { name, file, since };
  if (name === 'backup' && file === '-') throw misuse('--backup cannot write to standard output: name a file.');
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

function misuse(message: string): UsageError {
  return new UsageError(`${message} See --help.`);
}
