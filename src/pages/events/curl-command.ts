import { replaceInvisible, shellWord } from '../../util/text';
import { SHORT_BODY, type RequestAgain, type RequestBody } from './request-again';

/** A command for a POSIX shell. */
export interface CurlCommand {
  readonly command: string;
  /** The body stands in a file of the name that was given, to be saved first. */
  readonly needsFile: boolean;
}

/**
 * Writes the command with which curl sends a request. Each word is quoted, so that no character of a caller's means anything to
 * the shell. A long body is read from a file. A body of which some would not be visible, or not be text, is written in base64.
 *
 * @param key - stands for a key that the sender needs; undefined: it needs none.
 */
export function curlCommand(request: RequestAgain, key: string | undefined, file: string): CurlCommand {
  const { method, url, body } = request;
  const visible = request.headers.filter(([, value]) => isVisible(value));
  const headers = key === undefined ? visible : [...visible, ['x-api-key', key] as const];
  const options = headers.map(([name, value]) => `-H ${shellWord(value === '' ? `${name};` : `${name}: ${value}`)}`);
  // Otherwise curl says that it sends a form.
  if (body !== undefined && !headers.some(([name]) => name === 'content-type')) options.push(`-H 'content-type:'`);
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

function bodyOption({ isLong, bytes }: RequestBody, file: string): BodyOption {
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
