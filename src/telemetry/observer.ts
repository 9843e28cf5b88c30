import type { IncomingMessage, ServerResponse } from 'node:http';
import { RequestError } from '../http/errors';
import type { HttpRequest } from '../http/request';
import type { Secrets } from '../util/secrets';
import { plainReason } from '../util/errors';
import type { Logger } from './logger';
import type { CallOutcome, Metrics } from './metrics';
import { RefusedCalls, type RefusedCall } from './refused-calls';

/** A call of an operation that has ended. */
interface EndedCall extends NonNullable<HttpRequest['call']> {
  readonly request: HttpRequest;
  readonly response: Pick<ServerResponse, 'statusCode'>;
}

/** Returns an observer, which turns all that happens in a service into log lines, metrics and the list of refused calls. */
export function createObserver(
  logger: Logger,
  metrics: Metrics,
  addressOf: (request: IncomingMessage) => string | undefined,
  accessLog: boolean,
  { cut }: Secrets,
) {
  const refusedCalls = new RefusedCalls(cut);
  const writeRefusal = limitedLines(logger.warn.bind(logger));
  const writeFailure = limitedLines(logger.error.bind(logger));
  const hints = new Set<string>();
  let isRetentionFailing = false;

  const requestFields = (request: HttpRequest) => ({
    requestId: cut(request.id),
    remoteAddress: cut(addressOf(request) ?? '') || undefined,
    // The query string is a payload, which may be confidential.
    path: cut(request.url?.replace(/[?#].*$/s, '') ?? ''),
  });

  const notServed = (error: unknown, call: Omit<RefusedCall, 'id' | 'time' | 'reason'>, request?: IncomingMessage) => {
    const refusal = error instanceof RequestError ? error.category : undefined;
    const reason = plainReason(error);
    refusedCalls.add({ time: Date.now(), ...call, refusal, reason }, request);
    const { requestId, remoteAddress, path, binding, operation } = call;
    const fields = { requestId, remoteAddress, path, binding, operation, refusal, reason: cut(reason) };
    if (refusal === undefined) writeFailure(fields, 'failed');
    else {
      metrics.refusals.inc({ reason: refusal });
      writeRefusal(fields, 'refused');
    }
  };

  const answered = (request: HttpRequest, response: ServerResponse, milliseconds: number): void => {
    const { binding, operation, ticket } = request.call ?? {};
    const { socket, complete: isWhole } = request;
    // Node also finishes answers to callers who hung up within the message or while the call waited.
    const hasLeft = isWhole ? ticket?.waited && socket.readableEnded : socket.readableEnded || socket.destroyed;
    const fields = {
      ...requestFields(request),
      method: request.method,
      // Until an answer begins, Node says 200.
      status: response.headersSent ? response.statusCode : undefined,
      milliseconds: Math.round(milliseconds * 10) / 10,
      complete: response.writableFinished && !hasLeft,
      userAgent: cut(request.headers['user-agent'] ?? '') || undefined,
      binding,
      operation: operation?.name,
    };
    logger.info(fields, 'answered');
  };

  return {
    answered: accessLog ? answered : undefined,

    /**
     * A call of an operation ended.
     *
     * @param error - why it was refused (a {@link RequestError}) or failed.
     */
    ended: ({ request, response, binding, operation, ticket }: EndedCall, error?: unknown): void => {
      const milliseconds = performance.now() - request.receivedAt - ticket.waited;
      metrics.calls.add(binding, operation?.name ?? 'unknown', outcomeOf(error), milliseconds / 1000);
      if (error === undefined) return;
      const { statusCode: status } = response;
      notServed(error, { ...requestFields(request), binding, operation: operation?.name, status }, request);
    },

    refused: (error: unknown, status: number | undefined, from: HttpRequest | string | undefined): void => {
      if (typeof from === 'object') notServed(error, { ...requestFields(from), status }, from);
      else notServed(error, { remoteAddress: from, status });
    },

    hint: (key: string, message: string): void => {
      if (hints.has(key)) return;
      hints.add(key);
      logger.warn({ hint: key }, cut(message));
    },

    committed: metrics.commit,

    retained: (error?: unknown): void => {
      const fails = error !== undefined;
      if (fails) metrics.retentionFailures.inc();
      if (fails && !isRetentionFailing)
        logger.error({ reason: plainReason(error) }, 'retention fails, no events are forgotten');
      if (!fails && isRetentionFailing) logger.info('retention works again');
      isRetentionFailing = fails;
    },

    lost: (problem?: string): void => {
      if (problem === undefined) logger.info('the files of the event log are back');
      else logger.error({ reason: problem }, 'a file of the event log was lost');
    },

    refusals: () => refusedCalls.list(),
  };
}

export type Observer = ReturnType<typeof createObserver>;

function outcomeOf(error: unknown): CallOutcome {
  if (error === undefined) return 'ok';
  return error instanceof RequestError ? 'refused' : 'failed';
}

/** A flood of refusals must not fill the disk. */
const LINES_PER_SECOND = 20;

type WriteLine = (fields: object, message: string) => void;

/** Limits lines of one kind; `omitted` in the next one says how many were left out. */
function limitedLines(write: WriteLine): WriteLine {
  let [second, lines, omitted] = [0, 0, 0];
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
