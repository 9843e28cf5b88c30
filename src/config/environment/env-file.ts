import { lstatSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigError } from '../config-error';
import { readTextFile } from './text-file';

/** A variable in an `.env` file. */
export interface EnvFileEntry {
  readonly text: string;
  /** Number of its line, from 1. */
  readonly line: number;
}

/**
 * Reads an `.env` file. One that does not exist has no variables.
 *
 * @throws {ConfigError} the file cannot be read, or a line is not valid; the message is one line that names both.
 */
export function readEnvFile(file: string): Map<string, EnvFileEntry> {
  let content: string;
  try {
    // A symbolic link to nothing is not an absent file.
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return new Map();
    content = readTextFile(file);
  } catch (error) {
    throw new ConfigError(`${file}: must be a file that can be read; ${resolve(file)} ${(error as Error).message}`);
  }
  return parseEnvFile(file, content);
}

const ENTRY = /^(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*)$/;
const QUOTED = /^(?:"([^"]*)"|'([^']*)'|`([^`]*)`)\s*(?:#.*)?$/;

/**
 * Parses the content of an `.env` file: one `NAME=VALUE` a line, `export` before it or not, the value in quotes or not, comments
 * after `#`. Whatever programs understand differently is refused, as a guard must not get lost in it: values over several
 * lines, escapes, `#` inside a value without quotes.
 *
 * @throws {ConfigError} naming the first line that is not valid, without its value.
 */
function parseEnvFile(file: string, content: string): Map<string, EnvFileEntry> {
  const entries = new Map<string, EnvFileEntry>();
  content.split(/\r\n|\n|\r/).forEach((row, i) => {
    const line = i + 1;
    const wrong = (problem: string): ConfigError => new ConfigError(`${file}, line ${String(line)}: ${problem}`);
    const trimmed = row.trim();
    if (trimmed === '' || trimmed.startsWith('#')) return;
    const [, name, rest] = ENTRY.exec(trimmed) ?? [];
    if (name === undefined || rest === undefined) {
      throw wrong('must be NAME=VALUE, a comment that begins with #, or empty');
    }
    const before = entries.get(name);
    if (before !== undefined) throw wrong(`${name} is already set in line ${String(before.line)}`);
    entries.set(name, { text: valueOf(rest, (problem) => wrong(`${name} ${problem}`)), line });
  });
  return entries;
}

function valueOf(rest: string, wrong: (problem: string) => ConfigError): string {
  if (!/^["'`]/.test(rest)) {
    const value = rest.replace(/(?:^|\s+)#.*$/, '');
    if (value.includes('#')) throw wrong(`contains a #: put the value in single quotes`);
    return value;
  }
  const quoted = QUOTED.exec(rest);
  if (quoted === null) throw wrong(`must end with the quote that it begins with, on the same line`);
  const [, double, single, backquoted] = quoted;
  if (double?.includes('\\')) {
    throw wrong(`contains a backslash in double quotes: put the value in single quotes`);
  }
  return double ?? single ?? backquoted ?? '';
}
