import pino, { type DestinationStream, type Logger as PinoLogger, type LoggerOptions } from 'pino';
import SonicBoom from 'sonic-boom';
import { shortened, visible } from '../util/text';

/** Writes one line of JSON for each entry, asynchronously. */
export interface Logger extends PinoLogger {
  /** Ends the process once its lines are written, or after a second. */
  exit(code: number): void;
}

/** Maximum bytes of lines that wait while the disk is full or a reader stalls; further lines are lost. */
const MAX_WAITING = 1024 * 1024;

/** In milliseconds. */
const EXIT_TIMEOUT = 1000;

/** Returns a logger that writes to standard output by default. */
export function createLogger(level: string, stream?: DestinationStream): Logger {
  const options: LoggerOptions = {
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    // Messages may quote a caller, too; the texts that they quote are short.
    serializers: { msg: (message: unknown) => (typeof message === 'string' ? visible(message) : message) },
    formatters: { level: (label) => ({ level: label }), log: withShortTexts },
  };
  if (stream !== undefined) return Object.assign(pino(options, stream), { exit: (code: number) => process.exit(code) });
  // Reading the descriptor makes a pipe non-blocking: a write that hangs would keep the process from ending.
  const output = new SonicBoom({ fd: process.stdout.fd, maxLength: MAX_WAITING });
  const logger = pino(options, output);
  // The next line tries again.
  output.on('error', () => undefined);
  let lost = 0;
  output.on('drop', () => lost++);
  output.on('drain', () => {
    if (lost > 0) logger.error({ lost }, 'log lines were lost: standard output could not be written');
    lost = 0;
  });
  return Object.assign(logger, {
    exit(code: number): void {
      const exit = (): void => process.exit(code);
      output.once('close', exit).once('error', exit);
      setTimeout(exit, EXIT_TIMEOUT);
      output.end();
    },
  });
}

/** Callers choose some texts, and how long they are. */
const MAX_CHARACTERS = 300;

/** Shortens the texts among the fields of a line, and escapes what is not visible in them. */
function withShortTexts(fields: Record<string, unknown>): Record<string, unknown> {
  const end = (text: string) => (text.length <= MAX_CHARACTERS ? '' : ` (${String(text.length)} characters)`);
  const shown = (text: string) => visible(shortened(text, MAX_CHARACTERS) + end(text));
  const entries = Object.entries(fields);
  return Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'string' ? shown(value) : value]));
}
