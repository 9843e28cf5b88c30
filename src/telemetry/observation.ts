import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CallReport } from '../asmx/pipeline';
import type { Metrics, Outcome } from './metrics';
import { requestId } from '../http/request-id';
import type { ServerObserver } from '../http/server';
import { LimitedLines, type Logger } from './logger';
import { messageChain } from '../lang/message-chain';

/** Turns what happens into metrics and log lines. */
export interface Observation extends ServerObserver {
  /** Reports a call of an operation that ended. */
  call(this: void, request: IncomingMessage, report: CallReport): void;
}

/** Makes the observation; `addressOf` returns the caller's address. */
export function observation(
  metrics: Metrics,
  logger: Logger,
  accessLog: boolean,
  addressOf: (request: IncomingMessage) => string | undefined,
): Observation {
  const refusals = new LimitedLines((fields, message) => {
    logger.warn(fields, message);
  });
  const failures = new LimitedLines((fields, message) => {
    logger.error(fields, message);
  });
  const reports = new WeakMap<IncomingMessage, CallReport>();

  return {
    call(request, report) {
      const { binding, operation, started, waited, refusal, error } = report;
      const outcome: Outcome = error === undefined ? 'ok' : refusal === undefined ? 'failed' : 'refused';
      metrics.call(binding, operation ?? 'unknown', outcome, performance.now() - started - waited);
      if (accessLog) reports.set(request, report);
      if (error === undefined) return;
      const fields = { ...requestFields(request, addressOf), binding, operation };
      if (refusal === undefined) failures.write({ ...fields, reason: messageChain(error) }, 'failed');
      else {
        metrics.refusal(refusal);
        refusals.write({ ...fields, refusal, reason: messageChain(error) }, 'refused');
      }
    },
    refused(refusal, reason, remoteAddress, request) {
      metrics.refusal(refusal);
      const fields = request === undefined ? { remoteAddress } : requestFields(request, addressOf);
      refusals.write({ ...fields, refusal, reason }, 'refused');
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
): object {
  // The query string is a payload, which may be confidential.
  const path = request.url?.replace(/[?#].*$/s, '');
  return { requestId: requestId(request), remoteAddress: addressOf(request), path };
}
