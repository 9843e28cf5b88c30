import { urlToHttpOptions } from 'node:url';
import type { Option } from 'commander';
import { Binding } from '../config/values';
import { MAX_SEARCH_TEXT, type Start } from '../log/queries';
import { parseSince, type EventFilter } from './scan';
import { Sender } from '../senders/sender';
import { misuse, quoted } from './terminal';
import { option, repeatable, type ToolCommand } from './tool-command';

/** The log that a command reads: by default the one that EVENT_LOG names. */
export interface LogSource {
  /** The address of a service that has it. */
  readonly from?: URL | undefined;
  /** A file with a read key of that service; by default WEBHOOK_READ_KEY has it. */
  readonly keyFile?: string | undefined;
  /** A file with authorities in PEM that are trusted, too. */
  readonly ca?: string | undefined;
}

/** The options of the commands that read a log, as commander reads them. */
export interface ReadingValues extends LogSource, FilterValues {
  readonly since?: Start;
}

/** The values of {@link filterOptions}. */
interface FilterValues extends Partial<Record<'type' | 'binding' | 'sender' | 'fromSender' | 'text', string>> {
  readonly header?: EventFilter['headers'];
}

/** Adds options to a command, and returns it. */
export function withOptions(command: ToolCommand, options: readonly Option[]): ToolCommand {
  for (const each of options) command.addOption(each);
  return command;
}

/** Options that choose some of the events; one must match all that are given. */
export function filterOptions(): Option[] {
  return [
    option('--type <type>', 'only events with this type, or with all that begin alike, as in com.github.*'),
    option('--binding <name>', `only events that came over ${Binding.all.join(', ')}`, binding),
    option('--sender <ip>', 'only events that came from this address'),
    option('--from-sender <name>', 'only events of this known sender, as in github', knownSender),
    option(
      '--text <text>',
      'only events with this text in their attributes, their data or how they arrived',
      searchText,
    ),
    repeatable('--header <name=value>', 'only events whose request had this header field', headerField),
  ];
}

export function filterOf({ type, binding, sender, fromSender, text, header = [] }: FilterValues): EventFilter {
  return { type, binding, sender, fromSender, text, headers: header };
}

function knownSender(text: string): string {
  const name = Sender.named(text.toLowerCase())?.shortName;
  if (name !== undefined) return name;
  throw misuse(`--from-sender ${quoted(text)} is not one of ${Sender.recognised.join(', ')}.`);
}

function headerField(text: string): EventFilter['headers'][number] {
  const [, name = '', value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (value === undefined) throw misuse(`--header ${quoted(text)} is not NAME=VALUE.`);
  return [name.toLowerCase(), value];
}

export function sourceOf({ from, keyFile, ca }: LogSource): LogSource {
  return { from, keyFile, ca };
}

/** Options that name a log elsewhere. */
export function sourceOptions(): Option[] {
  return [
    option(
      '--from <url>',
      'the log of a service, by the address of its endpoint, as in https://host/webhooks/Services/WebHooks.asmx; instead ' +
        'of the one that EVENT_LOG names',
      serviceAddress,
    ),
    option(
      '--key-file <file>',
      'a file with a read key of that service; by default WEBHOOK_READ_KEY has it',
      namedFile,
    ),
    option('--ca <file>', 'a file with authorities in PEM that are trusted, too', namedFile),
  ];
}

export function sinceOption(): Option {
  return option(
    '--since <when>',
    'begin with the first event since a duration ago (2h, 30d, P1DT12H), a time (RFC 3339) or after a sequence',
    startOf('since'),
  );
}

export function startOf(name: string): (text: string) => Start {
  return (text) => {
    const start = parseSince(text);
    if (start !== undefined) return start;
    throw misuse(`--${name} ${quoted(text)} is not a duration (2h), a time (2026-01-31T12:00:00Z) or a sequence.`);
  };
}

export function namedFile(text: string): string {
  if (text === '-') throw misuse('Standard input and output cannot be used here: name a file.');
  return text;
}

function binding(name: string): string {
  if (Binding.all.some((each) => each === name)) return name;
  throw misuse(`--binding ${quoted(name)} is not one of ${Binding.all.join(', ')}.`);
}

function searchText(text: string): string {
  if (text.length <= MAX_SEARCH_TEXT) return text;
  throw misuse(`--text can have at most ${String(MAX_SEARCH_TEXT)} characters.`);
}

/** The end of the address that the service page offers to senders: a request there would record an event. */
const RECORDING = /\/+RecordEvent(?:\/.*)?$/i;

function serviceAddress(text: string): URL {
  const url = httpAddress(text);
  if (url !== undefined) {
    url.pathname = url.pathname.replace(RECORDING, '');
    return url;
  }
  throw misuse('--from needs an http or https address, as in https://host/webhooks/Services/WebHooks.asmx.');
}

/** Messages do not show the address, which may hold a password. */
export function httpAddress(text: string): URL | undefined {
  try {
    const url = new URL(text);
    // Throws if user or password cannot be decoded.
    urlToHttpOptions(url);
    if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  } catch {
    // The error shows the text.
  }
  return undefined;
}
