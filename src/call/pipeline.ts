import type { IncomingMessage } from 'node:http';
import { CloudEventError } from '../events/cloudevents/cloud-event';
import type { AccessControl } from '../http/auth/access';
import type { BodyLimit } from '../http/content/body';
import type { RateLimit } from '../http/rate-limit';
import { HTTP_ERRORS, RequestError } from '../http/errors';
import type { CallReport } from '../telemetry/observation';
import { LARGE_MESSAGE } from '../util/promises';
import { ParameterError, type Service } from '../service/call';
import type { Exchange } from './exchange';
import { Place, type Places } from './place';

/** What the steps of the pipeline use. */
export interface PipelineOptions extends Places {
  readonly service: Service;
  /** Undefined: no client is limited. */
  readonly rate: RateLimit | undefined;
  /** Undefined: everybody may call every operation. */
  readonly access: AccessControl | undefined;
  /** Hears of every call when it has ended. */
  report(request: IncomingMessage, report: CallReport): void;
}

/**
 * Takes every call, over whichever binding, through the same steps in the same order:
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
 * Slot and turn are given back however the call ends, and earlier while an operation waits for something to happen
 * (`Call.whileIdle`); {@link Place} holds them. {@link Exchange} supplies route, read, invoke, reply and refuse.
 */
export class Pipeline {
  readonly #options: PipelineOptions;

  constructor(options: PipelineOptions) {
    this.#options = options;
  }

  /** Answers one call; never rejects for what its caller or the service did wrong. */
  async answer(exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
    const started = performance.now();
    const place = new Place(this.#options, response);
    exchange.place = place;
    try {
      try {
        await this.#receive(exchange, place);
        const sending = exchange.reply(await exchange.invoke());
        if (sending !== undefined) await sending;
      } finally {
        place.giveBack();
      }
      const { binding, operation } = exchange;
      const { statusCode: status } = response;
      this.#options.report(request, { binding, operation, started, waited: place.waited, status });
    } catch (error) {
      const refusal = refusalOf(error);
      exchange.refuse(error, refusal);
      const { binding, operation } = exchange;
      const { waited } = place;
      const { statusCode: status } = response;
      this.#options.report(request, { binding, operation, started, waited, status, error, refusal: refusal?.refusal });
    }
  }

  /** Takes a call up to where its operation can run. Of its body it keeps nothing: a call that waits should not hold it. */
  async #receive(exchange: Exchange, place: Place): Promise<void> {
    const { rate, bodies } = this.#options;
    const { request, response } = exchange;
    if (rate !== undefined) await rate(request);
    exchange.route();
    const { isDecided, bodyLimit } = this.#checkHeader(exchange);
    const body = exchange.hasBody ? await bodies.read(request, response, bodyLimit) : EMPTY;
    place.takeSlot();
    if (body.length > LARGE_MESSAGE) await place.takeTurn();
    const reading = exchange.read(body);
    if (reading !== undefined) await reading;
    if (!isDecided) this.#checkAccess(exchange, body);
    if (exchange.isLarge) await place.takeTurn();
  }

  /** Decides what the header fields decide: whether the caller may call the operation, or how large its message may be. */
  #checkHeader(exchange: Exchange): HeaderCheck {
    const { access, service } = this.#options;
    const { operation, request } = exchange;
    if (access === undefined) return { isDecided: true };
    if (exchange.provesInMessage || access.needsBody(request)) {
      return { isDecided: false, bodyLimit: access.checkHeader(service[operation ?? '']?.access, request) };
    }
    this.#checkAccess(exchange, undefined);
    return { isDecided: true };
  }

  #checkAccess({ operation, request, password, passwordProblem }: Exchange, body: Buffer | undefined): void {
    const { access, service } = this.#options;
    // An operation that the service object does not have cannot be routed to; should one be, nobody may call it.
    const needed = service[operation ?? '']?.access ?? 'record';
    access?.check(needed, request, { ...(body && { body }), password, passwordProblem });
  }
}

/** What the header fields of a call have decided. */
interface HeaderCheck {
  /** Whether the caller may call the operation, without a look at the message. */
  readonly isDecided: boolean;
  /** A limit on its body beside the general one. */
  readonly bodyLimit?: BodyLimit | undefined;
}

const EMPTY = Buffer.alloc(0);

/**
 * Says of an error in any step whether it refuses the call, that is, whether its caller should hear of it as its own
 * mistake or as something to try again later. Undefined: the service failed.
 */
function refusalOf(error: unknown): RequestError | undefined {
  if (error instanceof RequestError) return error;
  if (error instanceof ParameterError || error instanceof CloudEventError)
    return HTTP_ERRORS.invalidInput(error.message);
  return undefined;
}
