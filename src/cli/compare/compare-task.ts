import { parseArgs } from 'node:util';
import { parseDuration } from '../../util/time';
import { misuse, quoted } from '../terminal';
import type { AskedOperation } from './calls';

/** How the tool is used, as `--help` prints it. */
export const USAGE = `Compares the service that is to be replaced with the one that replaces it, as clients see them.

Usage: asmx-webhook-compare OLD NEW [--brief] [--verbose] [--no-calls] [--call OPERATION]…
       asmx-webhook-compare OLD [--write FILE]

OLD and NEW are addresses, as in http://host/webhooks/Services/WebHooks.asmx, with ?WSDL or without, or files with a WSDL. With
two addresses both services get the same harmless calls. With OLD alone, the settings for the new service are printed, as lines
of an .env file, or with --write added to that file.

  --brief             prints differences in words only, not what the services answered
  --verbose           prints what is the same too
  --no-calls          compares the WSDLs only
  --call OPERATION    also calls RecordEvent or GetEvents on both services; RecordEvent records an event
  --write FILE        adds the settings to an .env file; what the file has stays as it is
  --ca FILE           trusts the certificate authorities in a PEM file too
  --insecure          takes any certificate, and TLS older than 1.2
  --timeout DURATION  longest time for each answer (30s)
  --help              prints this page
  --version           prints the version

A service that asks for Basic authentication gets user and password from its address: http://user:password@host/… All users of
the machine see arguments.

Exit code: 0 a client sees no difference, 1 it sees one, or settings alone cannot make the new service like the old one, 2 something
could not be compared, read or written.`;

/** What the tool is asked to do. */
export type Task = { readonly name: 'help' } | { readonly name: 'version' } | SettingsTask | CompareTask;

/** How servers are reached. */
export interface Connection {
  /** A PEM file. */
  readonly caFile: string | undefined;
  readonly isInsecure: boolean;
  /** In milliseconds. */
  readonly timeout: number;
}

/** Finding the settings with which the new service takes the place of the old one. */
export interface SettingsTask extends Connection {
  readonly name: 'settings';
  /** An address or the name of a file. */
  readonly old: string;
  /** The `.env` file to add them to; without one they are printed. */
  readonly file: string | undefined;
}

/** Comparing two services. */
export interface CompareTask extends Connection {
  readonly name: 'compare';
  /** An address or the name of a file. */
  readonly old: string;
  /** An address or the name of a file. */
  readonly new: string;
  readonly isBrief: boolean;
  readonly isVerbose: boolean;
  readonly makesCalls: boolean;
  /** Operations to call besides the harmless ones. */
  readonly asked: readonly AskedOperation[];
}

const OPTIONS = {
  brief: { type: 'boolean' },
  verbose: { type: 'boolean' },
  'no-calls': { type: 'boolean' },
  call: { type: 'string', multiple: true },
  ca: { type: 'string' },
  insecure: { type: 'boolean' },
  timeout: { type: 'string' },
  write: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const;

/** How long an answer may take, in milliseconds. */
const STANDARD_TIMEOUT = 30_000;
const MAX_TIMEOUT = 3_600_000;

/**
 * Reads the arguments of the command line.
 *
 * @throws {UsageError} they are unknown, contradict each other or ask for nothing.
 */
export function parseTask(args: readonly string[]): Task {
  const { values, positionals } = parsed(args);
  if (values.help) return { name: 'help' };
  if (values.version) return { name: 'version' };
  const [old, other, ...rest] = positionals;
  if (old === undefined)
    throw misuse('Nothing to compare: give the address of the old service and that of the new one.');
  if (rest.length > 0) throw misuse(`Give two addresses at most: ${quoted(rest.join(' '))} is one more.`);
  const connection = {
    caFile: values.ca,
    isInsecure: values.insecure ?? false,
    timeout: timeoutIn(values.timeout),
  };
  const asked = (values.call ?? []).map(operation);
  const makesCalls = !(values['no-calls'] ?? false);
  if (other === undefined) {
    if (values.brief === true || values.verbose === true || !makesCalls || asked.length > 0)
      throw misuse('There is nothing to compare with: give the address of the new service too.');
    return { name: 'settings', old, file: values.write, ...connection };
  }
  if (values.write !== undefined) throw misuse('--write is for the settings of one service: give its address alone.');
  if (!makesCalls && asked.length > 0) throw misuse('--call and --no-calls cannot be used together.');
  const { brief: isBrief = false, verbose: isVerbose = false } = values;
  return { name: 'compare', old, new: other, isBrief, isVerbose, makesCalls, asked, ...connection };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code?.startsWith('ERR_PARSE_ARGS') !== true) throw error;
    throw misuse(quoted(message.replace(/\. .*$/s, '')) + '.');
  }
}

function operation(name: string): AskedOperation {
  if (name === 'RecordEvent' || name === 'GetEvents') return name;
  throw misuse(`--call ${quoted(name)} is neither RecordEvent nor GetEvents.`);
}

function timeoutIn(text: string | undefined): number {
  if (text === undefined) return STANDARD_TIMEOUT;
  const timeout = parseDuration(text);
  if (timeout !== undefined && timeout > 0 && timeout <= MAX_TIMEOUT) return timeout;
  throw misuse(`--timeout ${quoted(text)} is not a duration up to 1h, as in 30s.`);
}
