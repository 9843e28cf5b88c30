import { replaceInvisible } from '../util/text';

/** The method of a request that may be recorded; the last three with RECORD_PATHS. */
export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A request for curl to send. */
export interface CurlRequest {
  readonly method: Method;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: CurlBody | undefined;
}

/** The body of a request. */
export interface CurlBody {
  /** Whether it is longer than {@link SHORT_BODY}, so that making it would be in vain. */
  readonly isLong: boolean;
  bytes(this: void): Buffer;
}

/** Most bytes of a body within a command. */
export const SHORT_BODY = 4096;

/** A command for a POSIX shell. */
interface CurlCommand {
  readonly command: string;
  /** Whether the body has to be saved first, in the file that the command names. */
  readonly needsFile: boolean;
}

/**
 * Writes the command with which curl sends a request. Each word is quoted, so that nothing a caller sent means anything to
 * the shell. A long body is read from a file. A body that is not text, or not visible in full, is written in base64. Header fields
 * with invisible characters are left out.
 */
export function curlCommand({ method, url, headers, body }: CurlRequest, file: string): CurlCommand {
  const options = headers
    .filter(([, value]) => isVisible(value))
    .map(([name, value]) => `-H ${shellWord(value === '' ? `${name};` : `${name}: ${value}`)}`);
  // Otherwise curl says that it sends a form.
  if (body !== undefined && !headers.some(([name]) => name.toLowerCase() === 'content-type')) {
    options.push(`-H 'content-type:'`);
  }
  if (method === 'HEAD') options.unshift('-I');
  else if (method !== 'GET' && (method !== 'POST' || body === undefined)) options.unshift(`-X ${method}`);
  // curl would read brackets and braces as a list of URLs.
  const start = /[[\]{}]/.test(url) ? 'curl -g' : 'curl';
  const command = (...more: string[]) => [`${start} ${shellWord(url)}`, ...options, ...more].join(' \\\n  ');
  if (body === undefined) return { command: command(), needsFile: false };
  const bytes = body.isLong ? undefined : body.bytes();
  if (bytes === undefined || bytes.length > SHORT_BODY) {
    return { command: command(`--data-binary ${shellWord(`@${file}`)}`), needsFile: true };
  }
  const text = bytes.toString();
  if (Buffer.from(text).equals(bytes) && isVisible(text)) {
    return { command: command(`--data-raw ${shellWord(text)}`), needsFile: false };
  }
  return { command: `echo ${bytes.toString('base64')} | base64 -d | ${command('--data-binary @-')}`, needsFile: false };
}

/** Whether a person who reads the command sees all of a text. */
export function isVisible(text: string): boolean {
  return replaceInvisible(text, () => '') === text;
}

/** Quotes a word for a POSIX shell; a single quote inside it ends the quoting, is escaped, and starts it again. */
export function shellWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
