import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from '../http/errors';
import type { ServerObserver } from '../http/request-listener';
import type { HttpRequest } from '../http/request';
import type { LogObserver } from '../log/event-log';
import { plainReason } from '../util/text';
import type { Logger } from './logger';
import type { CallOutcome, Metrics } from './metrics';
import type { ReadBody, RefusedCall, RefusedCalls } from './refused-calls';

/** How a call of an operation ended. */
export interface EndedCall {
  readonly binding: string;
  /** Undefined if the call named no operation of the service. */
  readonly operation: string | undefined;
  /** When its header had arrived, in the time of `performance.now()`. */
  readonly started: number;
  /** How much of the time since then its operation waited for events, in milliseconds. */
  readonly waited: number;
  /** HTTP status of the answer. */
  readonly status: number;
  readonly refusal?: Refusal | undefined;
  /** Why it was refused or failed. */
  readonly error?: unknown;
  /** The part of its body that had been read when it was refused or failed. */
  readonly body?: ReadBody | undefined;
}

/** Called for all that happens in a service. Its members need no `this`. */
export interface Observer extends Required<Omit<ServerObserver, 'answered'>>, Required<LogObserver> {
  readonly answered: ServerObserver['answered'];
  /** A call of an operation ended. */
  ended(this: void, request: HttpRequest, call: EndedCall): void;
  /**
   * A caller shows that a setting or a client does not fit.
   *
   * @param key - names the kind of hint: one of a few, never a text of a caller. The first of each is logged.
   */
  hint(this: void, key: string, message: string): void;
}

/** The counters of a process; `call` and `commit` if it answers calls. */
type Counters = Pick<Metrics, 'refusal' | 'retentionFailed'> & Partial<Pick<Metrics, 'call' | 'commit'>>;

/**
 * Returns the observer that turns what happens into log lines, metrics and the list of refused calls.
 *
 * @param accessLog - whether each answered request has a line.
 */
export function createObserver(
  logger: Logger,
  metrics: Counters,
  refusedCalls: RefusedCalls,
  addressOf: (request: IncomingMessage) => string | undefined,
  accessLog: boolean,
): Observer {
  const writeRefusal = limitedLines((fields, message) => {
    logger.warn(fields, message);
  });
  const writeFailure = limitedLines((fields, message) => {
    logger.error(fields, message);
  });
  const hints = new Set<string>();
  let isRetentionFailing = false;

  // All that is refused or fails is counted, listed and logged here.
  const unanswered = (call: Omit<RefusedCall, 'time'>, request?: IncomingMessage, body?: ReadBody): void => {
    refusedCalls.add({ time: Date.now(), ...call }, request, body);
    const { requestId, remoteAddress, path, binding, operation, refusal, reason } = call;
    const fields = { requestId, remoteAddress, path, binding, operation, refusal, reason };
    if (refusal === undefined) writeFailure(fields, 'failed');
    else {
      metrics.refusal(refusal);
      writeRefusal(fields, 'refused');
    }
  };

  return {
    ended(request, { binding, operation, started, waited, status, refusal, error, body }) {
      const outcome: CallOutcome = error === undefined ? 'ok' : refusal === undefined ? 'failed' : 'refused';
      metrics.call?.(binding, operation ?? 'unknown', outcome, performance.now() - started - waited);
      if (error === undefined) return;
      const fields = requestFields(request, addressOf);
      unanswered({ ...fields, binding, operation, status, refusal, reason: plainReason(error) }, request, body);
    },
    refused({ refusal, reason, status, remoteAddress, request }) {
      const fields = request === undefined ? { remoteAddress } : requestFields(request, addressOf);
      unanswered({ ...fields, status, refusal, reason }, request);
    },
    answered: accessLog
      ? (request, response, milliseconds) => {
          logger.info(answeredFields(request, response, milliseconds, addressOf), 'answered');
        }
      : undefined,
    hint(key, message) {
      if (hints.has(key)) return;
      hints.add(key);
      logger.warn({ hint: key }, message);
    },
    committed(commit) {
      metrics.commit?.(commit);
    },
    retained(error) {
      const fails = error !== undefined;
      if (fails) metrics.retentionFailed();
      if (fails && !isRetentionFailing)
        logger.error({ reason: plainReason(error) }, 'retention fails, no events are forgotten');
      if (!fails && isRetentionFailing) logger.info('retention works again');
      isRetentionFailing = fails;
    },
    lost(problem) {
      logger.error({ reason: problem }, 'a file of the event log was lost');
    },
  };
}

/** Most lines of one kind that are written in a second: a flood of refusals must not fill the disk. */
const LINES_PER_SECOND = 20;

/** Writes a line with these fields. */
type WriteLine = (fields: object, message: string) => void;

/** Limits lines of one kind to 20 in a second; `omitted` in the next one says how many were left out. */
function limitedLines(write: WriteLine): WriteLine {
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

/** The fields of the line about an answered request. */
function answeredFields(
  request: HttpRequest,
  response: ServerResponse,
  milliseconds: number,
  addressOf: (request: IncomingMessage) => string | undefined,
): object {
  const { binding, operation, ticket } = request.call ?? {};
  const { socket, complete: isWhole } = request;
  // Node finishes an answer to a caller who hung up within the message or while the call waited, too.
  const hasLeft = isWhole ? ticket?.waited && socket.readableEnded : socket.readableEnded || socket.destroyed;
  return {
    ...requestFields(request, addressOf),
    method: request.method,
    // Until an answer begins, Node says 200.
    status: response.headersSent ? response.statusCode : undefined,
    milliseconds: Math.round(milliseconds * 10) / 10,
    complete: response.writableFinished && !hasLeft,
    userAgent: request.headers['user-agent'],
    binding,
    operation,
  };
}

/** The fields of a log line that identify the request it is about. */
function requestFields(
  request: HttpRequest,
  addressOf: (request: IncomingMessage) => string | undefined,
): Pick<RefusedCall, 'requestId' | 'remoteAddress' | 'path'> {
  // The query string is a payload, which may be confidential.
  const path = request.url?.replace(/[?#].*$/s, '');
  let remoteAddress: string | undefined;
  try {
    remoteAddress = addressOf(request);
  } catch {
    // If proxies contradict each other, only the address of the connection is certain.
    remoteAddress = request.socket.remoteAddress;
  }
  return { requestId: request.id, remoteAddress, path };
}
