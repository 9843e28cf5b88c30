import { replaceInvisible, shellWord } from '../util/text';

/** A request for curl to send. */
export interface CurlRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: CurlBody | undefined;
}

/** The body of a request. */
export interface CurlBody {
  /** Whether it is certainly longer than {@link SHORT_BODY}: then it is better not made for nothing. */
  readonly isLong: boolean;
  bytes(this: void): Buffer;
}

/** Bytes of a body that a command may contain. */
export const SHORT_BODY = 4096;

/** A command for a POSIX shell. */
export interface CurlCommand {
  readonly command: string;
  /** Whether the body has to be saved first, in the file that the command names. */
  readonly needsFile: boolean;
}

/**
 * Writes the command with which curl sends a request. Each word is quoted, so that no character of a caller's means anything to
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
  if (method === 'POST' && body === undefined) options.unshift('-X POST');
  // curl would read brackets and braces as a list of URLs.
  const start = /[[\]{}]/.test(url) ? 'curl -g' : 'curl';
  const { before = '', option, needsFile = false } = body === undefined ? NO_BODY : bodyOption(body, file);
  if (option !== undefined) options.push(option);
  return { command: `${before}${[`${start} ${shellWord(url)}`, ...options].join(' \\\n  ')}`, needsFile };
}

interface BodyOption {
  readonly before?: string;
  readonly option?: string;
  readonly needsFile?: boolean;
}

const NO_BODY: BodyOption = {};

function bodyOption({ isLong, bytes }: CurlBody, file: string): BodyOption {
  const body = isLong ? undefined : bytes();
  if (body === undefined || body.length > SHORT_BODY) {
    return { option: `--data-binary ${shellWord(`@${file}`)}`, needsFile: true };
  }
  const text = body.toString();
  if (Buffer.from(text).equals(body) && isVisible(text)) return { option: `--data-raw ${shellWord(text)}` };
  return { before: `echo ${body.toString('base64')} | base64 -d | `, option: '--data-binary @-' };
}

/** Whether a person who reads a text before sending it sees all of it. */
function isVisible(text: string): boolean {
  return replaceInvisible(text, () => '') === text;
}
