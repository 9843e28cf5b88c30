import { urlToHttpOptions } from 'node:url';
import { Option } from 'commander';
import { Binding } from '../config/values';
import { positionIn } from '../events/stored-event';
import { SearchQuery, type Start } from '../log/queries';
import { Sender } from '../senders/sender';
import { oneLine } from '../util/text';
import { parseDuration, parseTime } from '../util/time';
import { misuse } from './terminal';
import { option, repeatable } from './tool-command';

/** The options of all commands, as commander reads them. */
export interface Values extends Pick<SearchQuery, 'text' | 'binding' | 'type' | 'sender' | 'fromSender'> {
  /** Names in lower case, and values. */
  readonly header?: readonly (readonly [name: string, value: string])[] | undefined;
  readonly from?: URL;
  readonly keyFile?: string;
  readonly since?: Start;
  readonly until?: Start;
  readonly event?: readonly string[];
  readonly json?: boolean;
  readonly dryRun?: boolean;
  readonly rewrite?: boolean;
  readonly follow?: boolean;
  readonly position?: string;
  readonly asReceived?: boolean;
  readonly sign?: readonly { readonly sender: Sender; readonly file: string }[];
  readonly skipRefused?: boolean;
  readonly to?: URL;
  readonly secretFile?: string;
  readonly data?: string;
}

/** Options that choose some of the events; one must match all that are given. */
export function filterOptions(): Option[] {
  return [
    option('--type <type>', 'only events with this type, or with all that begin alike, as in com.github.*'),
    option('--binding <name>', `only events that came over ${Binding.all.join(', ')}`, oneOf('--binding', Binding.all)),
    option('--sender <ip>', 'only events that came from this address', senderAddress),
    option('--from-sender <name>', 'only events of a sender, as in github', oneOf('--from-sender', Sender.recognised)),
    option('--text <text>', 'only events with this text in attributes, data or how they arrived', searchText),
    repeatable('--header <name=value>', 'only events whose request had this header field', headerField),
  ];
}

/** Returns a parser for one of several names, in any letter case; messages call the text `what`. */
export function oneOf(what: string, names: readonly string[]): (text: string) => string {
  return (text) => {
    const name = text.toLowerCase();
    if (names.includes(name)) return name;
    throw misuse(`${what} ${oneLine(text)} is not one of ${names.join(', ')}.`);
  };
}

function headerField(text: string): readonly [string, string] {
  const [, name = '', value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (value === undefined) throw misuse(`--header ${oneLine(text)} is not NAME=VALUE.`);
  return [name.toLowerCase(), value];
}

function senderAddress(text: string): string {
  if (SearchQuery.mayBeAddress(text)) return text;
  throw misuse(`--sender ${oneLine(text)} is not an address. --from-sender names a known sender.`);
}

function searchText(text: string): string {
  if (text.length <= SearchQuery.maxText) return text;
  throw misuse(`--text can have at most ${String(SearchQuery.maxText)} characters.`);
}

const ENDPOINT = 'https://host/webhooks/Services/WebHooks.asmx';

/** Options that name a log elsewhere. */
export function sourceOptions(): Option[] {
  return [
    option('--from <url>', `the log of a service, as in ${ENDPOINT}, in place of EVENT_LOG`, serviceAddress),
    option('--key-file <file>', 'a file with a read key of that service; otherwise WEBHOOK_READ_KEY has it', namedFile),
  ];
}

export function sinceOption(): Option {
  return option('--since <when>', 'since a duration ago (2h), a time (RFC 3339) or after a sequence', startOf('since'));
}

export function untilOption(): Option {
  return option('--until <when>', 'only events before a time, or up to a sequence', startOf('until'));
}

const DAY = /^\d{4}-\d\d-\d\d$/;

/** Reads a sequence, a duration up to now, a time (RFC 3339) or a day, for its first moment in UTC. */
function startOf(name: string): (text: string) => Start {
  return (text) => {
    const after = positionIn(text);
    if (after !== undefined) return { after };
    const ago = parseDuration(text);
    const time = ago === undefined ? parseTime(DAY.test(text) ? `${text}T00:00:00Z` : text) : Date.now() - ago;
    // No event is older than 1970, and RFC 3339 cannot write a year before 0.
    if (time !== undefined) return { after: 0, since: Math.max(0, time) };
    throw misuse(`--${name} ${oneLine(text)} is not a duration (2h), a time (2026-01-31T12:00:00Z) or a sequence.`);
  };
}

export function namedFile(text: string): string {
  if (text === '-') throw misuse('Standard input and output cannot be used here: name a file.');
  return text;
}

/** The end of the address that the service page offers to senders: a request there would record an event. */
const RECORDING = /\/+RecordEvent(?:\/.*)?$/i;

function serviceAddress(text: string): URL {
  const url = httpAddress(text);
  if (url === undefined) throw misuse(`--from needs an http or https address, as in ${ENDPOINT}.`);
  url.pathname = url.pathname.replace(RECORDING, '');
  return url;
}

export function targetAddress(text: string): URL {
  const url = httpAddress(text);
  if (url !== undefined) return url;
  throw misuse('Give an address: http://127.0.0.1:3000/hook, localhost:3000/hook, or 3000 for a port of this machine.');
}

/** A host with a port, or `localhost`, each perhaps with a path. */
const WITHOUT_SCHEME = /^(?:localhost|[\w.-]+:\d+|\[[\da-f:]+\]:\d+)(?=$|[/?])/i;

/** Reads an address, or a port of this machine. Messages do not show it, since it may hold a password. */
function httpAddress(text: string): URL | undefined {
  const address = text.replace(/^:?(?=\d{1,5}(?:$|[/?]))/, 'localhost:');
  try {
    const url = new URL(WITHOUT_SCHEME.test(address) ? `http://${address}` : address);
    // Throws if user or password cannot be decoded.
    urlToHttpOptions(url);
    if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  } catch {
    // The error shows the text.
  }
  return undefined;
}

/** Some events of a log, by name (an id or a sequence) or by a search that is bounded in time. */
export type EventSelection =
  { readonly names: readonly string[] } | ({ readonly search: Omit<SearchQuery, 'limit'> } & Pick<Values, 'header'>);

/** The events that options select, if any of them does. */
export function selectionOf(values: Values): EventSelection | undefined {
  const { event, since, until, header, type, binding, sender, fromSender, text } = values;
  if (event !== undefined) return { names: event };
  if ([until, header, type, binding, sender, fromSender, text].every((value) => value === undefined)) return undefined;
  // A sequence stands for its event and those before it.
  const before = until?.since === undefined ? until && until.after + 1 : undefined;
  const range = { after: since?.after, from: since?.since, before, to: until?.since };
  return { search: { ...range, type, binding, sender, fromSender, text }, header };
}
