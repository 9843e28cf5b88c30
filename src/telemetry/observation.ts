import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from '../http/errors';
import type { Metrics, Outcome } from './metrics';
import { requestId, type HttpRequest } from '../http/request';
import type { ServerObserver } from '../http/reception';
import { limitedLines, type Logger } from './logger';
import { plainReason } from '../util/text';
import type { ReadBody, RefusedCall, RefusedCalls } from './refused-calls';

/** How a call of an operation ended. */
export interface CallReport {
  readonly binding: string;
  /** Undefined where the call named no operation of the service. */
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

/** Turns what happens into metrics, log lines and the list of refused calls. */
export interface Observation extends ServerObserver {
  /** Reports a call of an operation that ended. */
  call(this: void, request: IncomingMessage, report: CallReport): void;
}

/**
 * Writes a line when retention begins to fail, when it works again, and when a file of the log is lost.
 *
 * @param countFailure - called for each step of retention that fails, some of them without a line.
 */
export function logLines(
  logger: Logger,
  countFailure: () => void,
): { retained(error?: unknown): void; lost(problem: string): void } {
  let isFailing = false;
  return {
    retained(error) {
      const fails = error !== undefined;
      if (fails) countFailure();
      if (fails && !isFailing) logger.error({ reason: plainReason(error) }, 'retention fails, no events are forgotten');
      if (!fails && isFailing) logger.info('retention works again');
      isFailing = fails;
    },
    lost(problem) {
      logger.error({ reason: problem }, 'a file of the event log was lost');
    },
  };
}

/**
 * Makes the observation.
 *
 * @param metrics - `call` where calls are answered.
 */
export function observation(
  metrics: Pick<Metrics, 'refusal'> & Partial<Pick<Metrics, 'call'>>,
  logger: Logger,
  accessLog: boolean,
  addressOf: (request: IncomingMessage) => string | undefined,
  refusedCalls: RefusedCalls,
): Observation {
  const writeRefusal = limitedLines((fields, message) => {
    logger.warn(fields, message);
  });
  const writeFailure = limitedLines((fields, message) => {
    logger.error(fields, message);
  });
  // Whatever is refused or fails is counted, listed and logged here.
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
    call(request, report) {
      const { binding, operation, started, waited, status, refusal, error, body } = report;
      const outcome: Outcome = error === undefined ? 'ok' : refusal === undefined ? 'failed' : 'refused';
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
      ? (request: HttpRequest, response: ServerResponse, milliseconds: number) => {
          const { binding, operation, ticket } = request.call ?? {};
          const { socket, complete: isWhole } = request;
          // Node finishes an answer to a caller who hung up within the message or while the call waited, too.
          const hasLeft = isWhole ? ticket?.waited && socket.readableEnded : socket.readableEnded || socket.destroyed;
          logger.info(
            {
              ...requestFields(request, addressOf),
              method: request.method,
              // Until an answer begins, Node says 200.
              status: response.headersSent ? response.statusCode : undefined,
              milliseconds: Math.round(milliseconds * 10) / 10,
              complete: response.writableFinished && !hasLeft,
              userAgent: request.headers['user-agent'],
              binding,
              operation,
            },
            'answered',
          );
        }
      : undefined,
  };
}

/** The fields of a log line about a request. */
function requestFields(
  request: IncomingMessage,
  addressOf: (request: IncomingMessage) => string | undefined,
): Pick<RefusedCall, 'requestId' | 'remoteAddress' | 'path'> {
  // The query string is a payload, which may be confidential.
  const path = request.url?.replace(/[?#].*$/s, '');
  let remoteAddress: string | undefined;
  try {
    remoteAddress = addressOf(request);
  } catch {
    // Where proxies contradict each other, only theirs is certain.
    remoteAddress = request.socket.remoteAddress;
  }
  return { requestId: requestId(request), remoteAddress, path };
}
