import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CallReport } from './asmx/binding';
import type { Metrics, Outcome } from './http/metrics';
import type { Refusal } from './http/request-error';
import { requestId } from './http/request-id';
import type { ServerObserver } from './http/server';
import { LimitedLines, type Logger } from './logger';
import { messageChain } from './message-chain';

/** What turns everything that happens into metrics and log lines. */
export interface Observation extends ServerObserver {
  /** A call of an operation ended. */
  call(request: IncomingMessage, report: CallReport): void;
}

/** Makes the observation; `addressOf` tells who calls. */
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
      const { binding, operation, started, refusal, error } = report;
      const outcome: Outcome = error === undefined ? 'ok' : refusal === undefined ? 'failed' : 'refused';
      metrics.call(binding, operation ?? 'unknown', outcome, performance.now() - started);
      if (accessLog) reports.set(request, report);
      if (error === undefined) return;
      const fields = { requestId: requestId(request), remoteAddress: addressOf(request), binding, operation };
      if (refusal === undefined) failures.write({ ...fields, reason: messageChain(error) }, 'failed');
      else {
        metrics.refusal(refusal);
        refusals.write({ ...fields, refusal, reason: messageChain(error) }, 'refused');
      }
    },
    refused(refusal: Refusal, reason: string, remoteAddress: string | undefined) {
      metrics.refusal(refusal);
      refusals.write({ remoteAddress, refusal, reason }, 'refused');
    },
    answered: accessLog
      ? (request: IncomingMessage, response: ServerResponse, milliseconds: number) => {
          const { binding, operation } = reports.get(request) ?? {};
          // Without the query string: it is a payload, and may hold what nobody else is to see.
          const path = request.url?.replace(/\?.*$/s, '');
          logger.info(
            {
              requestId: requestId(request),
              remoteAddress: addressOf(request),
              method: request.method,
              path,
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
