import pino, { type DestinationStream, type Logger as PinoLogger } from 'pino';
import { visible } from '../util/text';
import { StandardOutput } from './standard-output';

/** Writes one line of JSON for each entry, asynchronously. */
export interface Logger extends PinoLogger {
  /** Ends the process once its lines are written. If standard output is stuck, not even `process.exit` would end it. */
  exit(code: number): void;
}

/** Returns a logger that writes to standard output by default. */
export function createLogger(level: string, stream?: DestinationStream): Logger {
  const options = { level, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime };
  const logger: PinoLogger = pino(
    { ...options, formatters: { level: (label) => ({ level: label }), log: withLogText } },
    stream ??
      new StandardOutput((lost) => {
        logger.error({ lost }, 'log lines were lost: standard output could not be written');
      }),
  );
  return Object.assign(logger, {
    exit(code: number): void {
      logger.flush((stuck) => {
        if (stuck === undefined) process.exit(code);
        process.kill(process.pid, 'SIGKILL');
      });
    },
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
