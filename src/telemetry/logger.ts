import pino, { type DestinationStream, type Logger } from 'pino';
import { visible } from '../util/text';
import { StandardOutput } from './standard-output';

export type { Logger } from 'pino';

/**
 * Returns a logger: one line of JSON for each entry, on standard output by default, written asynchronously. `flush` calls back
 * when all lines are written.
 */
export function createLogger(level: string, stream?: DestinationStream): Logger {
  const options = { level, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime };
  const logger: Logger = pino(
    { ...options, formatters: { level: (label) => ({ level: label }), log: withLogText } },
    stream ??
      new StandardOutput((lost) => {
        logger.error({ lost }, 'log lines were lost: standard output could not be written');
      }),
  );
  return logger;
}

/** Ends the process once its lines are written. Where standard output is stuck, not even `process.exit` would end it. */
export function exitAfterLines(logger: Logger, code: number): void {
  logger.flush((stuck) => {
    if (stuck === undefined) process.exit(code);
    process.kill(process.pid, 'SIGKILL');
  });
}

/** Most characters of a text in a log line: callers choose some of them, and how long they are. */
const MAX_CHARACTERS = 300;

/** Shortens the texts among the fields of a line, and escapes what is not visible in them. */
function withLogText(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === 'string' ? logText(value) : value]),
  );
}

function logText(text: string): string {
  const shown =
    text.length <= MAX_CHARACTERS
      ? text
      : `${text.slice(0, MAX_CHARACTERS).toWellFormed()}… (${String(text.length)} characters)`;
  return visible(shown);
}

/** Writes a line with these fields. */
type WriteLine = (fields: object, message: string) => void;

/** Limits lines of one kind to 20 in a second; `omitted` in the next one says how many were left out. */
export function limitedLines(write: WriteLine): WriteLine {
  let second = 0;
  let lines = 0;
  let omitted = 0;
  return (fields, message) => {
    const now = Math.floor(Date.now() / 1000);
    if (now !== second) {
      second = now;
      lines = 0;
    }
    if (++lines > LINES_PER_SECOND) {
      omitted++;
      return;
    }
    write(omitted === 0 ? fields : { ...fields, omitted }, message);
    omitted = 0;
  };
}

/**
 * Returns a function that logs a hint for the operator, if calls show that a setting or a client does not fit. Each hint is logged
 * once, by its key: one of a few, never a caller's text.
 */
export function hintsTo(logger: Logger): (key: string, message: string) => void {
  const given = new Set<string>();
  return (key, message) => {
    if (given.has(key)) return;
    given.add(key);
    logger.warn({ hint: key }, message);
  };
}
