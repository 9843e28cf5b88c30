import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from '../http/errors';
import type { Metrics, Outcome } from './metrics';
import { requestId } from '../http/request';
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
  /** What had been read of its body when it was refused or failed. */
  readonly body?: ReadBody | undefined;
}

/** Turns what happens into metrics, log lines and the list of refused calls. */
export interface Observation extends ServerObserver {
  /** Reports a call of an operation that ended. */
  call(this: void, request: IncomingMessage, report: CallReport): void;
  /** Reports a page that could not be shown: the service's doing. */
  pageFailed(this: void, request: IncomingMessage, status: number, error: unknown): void;
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

/** Makes the observation. */
export function observation(
  metrics: Metrics,
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
  const reports = new WeakMap<IncomingMessage, CallReport>();
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
      metrics.call(binding, operation ?? 'unknown', outcome, performance.now() - started - waited);
      if (accessLog) reports.set(request, report);
      if (error === undefined) return;
      const fields = requestFields(request, addressOf);
      unanswered({ ...fields, binding, operation, status, refusal, reason: plainReason(error) }, request, body);
    },
    pageFailed(request, status, error) {
      unanswered({ ...requestFields(request, addressOf), status, reason: plainReason(error) }, request);
    },
    refused({ refusal, reason, status, remoteAddress, request }) {
      const fields = request === undefined ? { remoteAddress } : requestFields(request, addressOf);
      unanswered({ ...fields, status, refusal, reason }, request);
    },
    answered: accessLog
      ? (request: IncomingMessage, response: ServerResponse, milliseconds: number) => {
          const { binding, operation } = reports.get(request) ?? {};
          logger.info(
            {
              ...requestFields(request, addressOf),
              method: request.method,
              status: response.statusCode,
              milliseconds: Math.round(milliseconds * 10) / 10,
              complete: response.writableFinished,
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

/** What a log line says of the request that it is about. */
export function requestFields(
  request: IncomingMessage,
  addressOf: (request: IncomingMessage) => string | undefined,
): Pick<RefusedCall, 'requestId' | 'remoteAddress' | 'path'> {
  // The query string is a payload, which may be confidential.
  const path = request.url?.replace(/[?#].*$/s, '');
  return { requestId: requestId(request), remoteAddress: addressOf(request), path };
}
