import type { IncomingMessage, ServerResponse } from 'node:http';
import { RequestError } from '../http/errors';
import type { HttpRequest } from '../http/request';
import { Secrets } from '../util/secrets';
import { plainReason } from '../util/errors';
import type { Logger } from './logger';
import type { CallOutcome, Metrics } from './metrics';
import { RefusedCalls, type RefusedCall, type Refusals } from './refused-calls';

/** A call of an operation that has ended. */
export interface EndedCall extends NonNullable<HttpRequest['call']> {
  readonly request: HttpRequest;
  readonly response: Pick<ServerResponse, 'statusCode'>;
}

/** Turns all that happens in a service into log lines, metrics and the list of refused calls. Its members need no `this`. */
export class Observer {
  /** Called for each answered request, if there is an access log. */
  readonly answered: ((request: HttpRequest, response: ServerResponse, milliseconds: number) => void) | undefined;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #refusedCalls: RefusedCalls;
  readonly #cut: (text: string) => string;
  readonly #addressOf: (request: IncomingMessage) => string | undefined;
  readonly #writeRefusal: WriteLine;
  readonly #writeFailure: WriteLine;
  readonly #hints = new Set<string>();
  #isRetentionFailing = false;

  constructor(
    logger: Logger,
    metrics: Metrics,
    addressOf: (request: IncomingMessage) => string | undefined,
    accessLog: boolean,
    secrets = new Secrets(),
  ) {
    this.#refusedCalls = new RefusedCalls(secrets);
    this.#cut = secrets.cut;
    this.#logger = logger;
    this.#metrics = metrics;
    this.#addressOf = addressOf;
    this.#writeRefusal = limitedLines(logger.warn.bind(logger));
    this.#writeFailure = limitedLines(logger.error.bind(logger));
    this.answered = accessLog
      ? (request, response, milliseconds) => {
          logger.info(this.#answeredFields(request, response, milliseconds), 'answered');
        }
      : undefined;
  }

  /**
   * A call of an operation ended.
   *
   * @param error - why it was refused (a {@link RequestError}) or failed.
   */
  readonly ended = ({ request, response, binding, operation, ticket }: EndedCall, error?: unknown): void => {
    const milliseconds = performance.now() - request.receivedAt - ticket.waited;
    this.#metrics.call(binding, operation ?? 'unknown', outcomeOf(error), milliseconds);
    if (error === undefined) return;
    const { statusCode: status } = response;
    this.#unanswered(error, { ...this.#requestFields(request), binding, operation, status }, request);
  };

  /** A request or a connection was refused (with a {@link RequestError}), or a page has failed. `status` is that of the answer, if any. */
  readonly refused = (
    error: unknown,
    status: number | undefined,
    remoteAddress: string | undefined,
    request?: HttpRequest,
  ): void => {
    const fields = request === undefined ? { remoteAddress } : this.#requestFields(request);
    this.#unanswered(error, { ...fields, status }, request);
  };

  /**
   * A caller shows that a setting or a client does not fit.
   *
   * @param key - names the kind of hint: one of a few, never a text of a caller. The first of each is logged.
   */
  readonly hint = (key: string, message: string): void => {
    if (this.#hints.has(key)) return;
    this.#hints.add(key);
    this.#logger.warn({ hint: key }, this.#cut(message));
  };

  readonly committed = (commit: Parameters<Metrics['commit']>[0]): void => {
    this.#metrics.commit(commit);
  };

  readonly retained = (error: unknown): void => {
    const fails = error !== undefined;
    if (fails) this.#metrics.retentionFailed();
    if (fails && !this.#isRetentionFailing)
      this.#logger.error({ reason: plainReason(error) }, 'retention fails, no events are forgotten');
    if (!fails && this.#isRetentionFailing) this.#logger.info('retention works again');
    this.#isRetentionFailing = fails;
  };

  readonly lost = (problem?: string): void => {
    if (problem === undefined) this.#logger.info('the files of the event log are back');
    else this.#logger.error({ reason: problem }, 'a file of the event log was lost');
  };

  readonly refusals = (): Refusals => this.#refusedCalls.list();

  #unanswered(error: unknown, call: Omit<RefusedCall, 'id' | 'time' | 'reason'>, request?: IncomingMessage): void {
    const refusal = error instanceof RequestError ? error.refusal : undefined;
    const reason = plainReason(error);
    this.#refusedCalls.add({ time: Date.now(), ...call, refusal, reason }, request);
    const { requestId, remoteAddress, path, binding, operation } = call;
    const fields = { requestId, remoteAddress, path, binding, operation, refusal, reason: this.#cut(reason) };
    if (refusal === undefined) this.#writeFailure(fields, 'failed');
    else {
      this.#metrics.refusal(refusal);
      this.#writeRefusal(fields, 'refused');
    }
  }

  #answeredFields(request: HttpRequest, response: ServerResponse, milliseconds: number): object {
    const { binding, operation, ticket } = request.call ?? {};
    const { socket, complete: isWhole } = request;
    // Node finishes an answer to a caller who hung up within the message or while the call waited, too.
    const hasLeft = isWhole ? ticket?.waited && socket.readableEnded : socket.readableEnded || socket.destroyed;
    return {
      ...this.#requestFields(request),
      method: request.method,
      // Until an answer begins, Node says 200.
      status: response.headersSent ? response.statusCode : undefined,
      milliseconds: Math.round(milliseconds * 10) / 10,
      complete: response.writableFinished && !hasLeft,
      userAgent: this.#cut(request.headers['user-agent'] ?? '') || undefined,
      binding,
      operation,
    };
  }

  #requestFields(request: HttpRequest): Pick<RefusedCall, 'requestId' | 'remoteAddress' | 'path'> {
    // The query string is a payload, which may be confidential.
    const path = this.#cut(request.url?.replace(/[?#].*$/s, '') ?? '');
    return { requestId: this.#cut(request.id), remoteAddress: this.#addressOf(request), path };
  }
}

function outcomeOf(error: unknown): CallOutcome {
  if (error === undefined) return 'ok';
  return error instanceof RequestError ? 'refused' : 'failed';
}

/** A flood of refusals must not fill the disk. */
const LINES_PER_SECOND = 20;

type WriteLine = (fields: object, message: string) => void;

/** Limits lines of one kind; `omitted` in the next one says how many were left out. */
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
