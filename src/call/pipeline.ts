import type { IncomingMessage } from 'node:http';
import { CloudEventError } from '../events/cloudevents/cloud-event';
import type { AccessControl } from '../http/access';
import type { BodyLimit } from '../http/content/body';
import type { RateLimit } from '../http/callers';
import { HTTP_ERRORS, RequestError } from '../http/errors';
import type { CallReport } from '../telemetry/observation';
import { LARGE_MESSAGE } from '../util/promises';
import { ParameterError, type Service } from '../service/call';
import type { IncomingCall } from './incoming-call';

/** What the steps of the pipeline use. */
export interface PipelineOptions {
  readonly service: Service;
  /** Without it no client is limited. */
  readonly rate: RateLimit | undefined;
  /** Without it everybody may call every operation. */
  readonly access: AccessControl | undefined;
  /** Called for every call when it has ended. */
  report(request: IncomingMessage, report: CallReport): void;
}

/**
 * Takes every call, over any binding, through the same steps in the same order:
 *
 *     header ─► rate ─► route ─► access ─► body ─► slot ─► turn ─► read ─► access ─► invoke ─► reply
 *                 │       │        │        │       │               │        │         │
 *                 └───────┴────────┴────────┴───────┴───────┬───────┴────────┴─────────┘
 *                                                           ▼
 *                                         refuse (any step throws)        ─► report, in either case
 *
 * - rate: its client has not sent too many requests
 * - route: the header fields alone are right, and name the operation where the binding says it there
 * - access, before the body: the caller may call the operation, where its header fields decide that; where its message may
 *   prove it, the header fields do not rule it out, and the body of a caller that has proved nothing is not large
 * - body: read whole, within the limits
 * - slot: there are not too many calls in flight
 * - turn: large messages run one at a time, so that small ones never wait for more than one of them; one that only reading
 *   shows to be large has its turn before it is invoked
 * - read: the message is right and names the operation
 * - access, after the body: as before it, for callers whose signature or password is in the message
 * - invoke: the operation runs, and what it returned is written as the binding writes it
 *
 * Route, read, invoke, reply and refuse are the call's own ({@link IncomingCall}). Body, slot and turn are on its ticket,
 * which gives them back however the call ends, and earlier while an operation waits (`Call.whileIdle`).
 */
export class Pipeline {
  readonly #options: PipelineOptions;

  constructor(options: PipelineOptions) {
    this.#options = options;
  }

  /** Answers one call. Rejects only where not even the refusal can be sent. */
  async answer(call: IncomingCall): Promise<void> {
    try {
      try {
        await this.#receive(call);
        const sending = call.reply(await call.invoke());
        if (sending !== undefined) await sending;
      } finally {
        call.ticket.giveBack();
      }
      this.#report(call);
    } catch (error) {
      const refusal = refusalOf(error);
      call.refuse(error, refusal);
      this.#report(call, error, refusal);
    }
  }

  /** Takes a call up to where its operation can run. A call that waits keeps nothing of its body. */
  async #receive(call: IncomingCall): Promise<void> {
    const { rate } = this.#options;
    const { request, ticket } = call;
    rate?.(request);
    call.route();
    const { isDecided, bodyLimit } = this.#checkHeader(call);
    const body = call.hasBody ? await ticket.readBody(request, bodyLimit) : EMPTY;
    call.keepStart(body);
    ticket.takeSlot();
    if (body.length > LARGE_MESSAGE) await ticket.takeTurn();
    const reading = call.read(body);
    if (reading !== undefined) await reading;
    if (!isDecided) this.#checkAccess(call, body);
    if (call.isLarge) await ticket.takeTurn();
  }

  /** Decides what the header fields decide: whether the caller may call the operation, or how large its message may be. */
  #checkHeader(call: IncomingCall): HeaderCheck {
    const { access, service } = this.#options;
    const { operation, request } = call;
    if (access === undefined) return DECIDED;
    const needsMessage = access.takesProofs
      ? call.provesInMessage || access.needsBody(request)
      : operation === undefined;
    if (needsMessage) {
      return { isDecided: false, bodyLimit: access.checkHeader(service[operation ?? '']?.access, request) };
    }
    this.#checkAccess(call, undefined);
    return DECIDED;
  }

  #checkAccess(call: IncomingCall, body: Buffer | undefined): void {
    const { access, service } = this.#options;
    const { operation, request, password, passwordProblem } = call;
    // Only operations of the service object are routed to; any other would need the access that guards most.
    const needed = service[operation ?? '']?.access ?? 'record';
    call.signedBy = access?.check(needed, request, { body, password, passwordProblem });
  }

  #report(call: IncomingCall, error?: unknown, refusal?: RequestError): void {
    const { binding, operation, request, response, ticket } = call;
    const { statusCode: status } = response;
    const { waited } = ticket;
    const { receivedAt: started } = request;
    const body = error === undefined ? undefined : call.body;
    this.#options.report(request, {
      binding,
      operation,
      started,
      waited,
      status,
      error,
      refusal: refusal?.refusal,
      body,
    });
  }
}

/** What the header fields of a call have decided. */
interface HeaderCheck {
  /** Whether the caller may call the operation, without a look at the message. */
  readonly isDecided: boolean;
  /** A limit on its body beside the general one. */
  readonly bodyLimit?: BodyLimit | undefined;
}

const DECIDED: HeaderCheck = { isDecided: true };

const EMPTY = Buffer.alloc(0);

/**
 * The refusal that an error of any step means: the caller made a mistake, or should try again later. Without one the service
 * failed.
 */
function refusalOf(error: unknown): RequestError | undefined {
  if (error instanceof RequestError) return error;
  if (error instanceof ParameterError || error instanceof CloudEventError)
    return HTTP_ERRORS.invalidInput(error.message);
  return undefined;
}
