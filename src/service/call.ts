import type { Binding } from '../config/values';
import type { AccessControl } from '../access/access-control';
import type { EventContent, RecordedCall } from '../events/event';

/** The checked values of an operation's parameters, by name; `undefined` for one that was not given. */
export type ParameterValues = Readonly<Record<string, string | number | undefined>>;

/** The content of a call: a valid batch of CloudEvents, one CloudEvent, or anything else, which becomes one event. */
export type CallContent = (EventContent & { readonly batch?: undefined }) | { readonly batch: readonly EventContent[] };

/** One call of an operation, over any binding. What takes work to find out is a method. */
export interface Call extends RecordedCall {
  readonly binding: Binding;
  /**
   * Returns the content of the call; that of a large message is read in another thread.
   * Call it before {@link Call.forget} and {@link Call.whileIdle}.
   *
   * @throws {CloudEventError} the caller sent a CloudEvent that is not valid.
   */
  content(): CallContent | Promise<CallContent>;
  /** Lets go of what the caller sent: the work on it is done. */
  forget(): void;
  /** Tells the operator what to change; the first of each kind is logged. @param key - names the kind: one of a few. */
  hint(key: string, message: string): void;
  /** Makes room for an answer with this many bytes. @throws there is none; the caller is asked to try again later. */
  reserve(bytes: number): void;
  /** The absolute URL under which this caller reaches the endpoint. */
  endpointUrl(): string;
  /**
   * Waits for something to happen, for a minute at most, and settles as `wait` does. Meanwhile the call does not count as one in
   * flight, and it forgets what the caller sent.
   *
   * @param wait - must resolve soon after the signal fires: the caller is gone or the service stops.
   * @throws too many calls wait; the caller is asked to try again later.
   */
  whileIdle<T>(wait: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

/** Thrown for a call that the service refuses. The caller gets the message. */
export class CallError extends Error {
  override readonly name = 'CallError';

  constructor(
    message: string,
    /** The name of its entry in `HTTP_ERRORS`. `keyReuse`: the `Idempotency-Key` was sent with another event before. */
    readonly kind: 'invalidInput' | 'keyReuse' = 'invalidInput',
  ) {
    super(message);
  }

  static mustBe(parameter: string, allowed: string): CallError {
    return new CallError(`The parameter ${parameter} must be ${allowed}.`);
  }
}

/**
 * An operation of the service. What the WSDL says it takes is read, checked and converted before it runs; how its result reaches the
 * caller is up to the binding.
 */
export interface Operation {
  /** The access that a caller needs where keys are set. */
  readonly access: keyof AccessControl['rules']['credentials'];
  /** The media type of a result that is a document in its own right. */
  readonly resultType?: string;
  /** Names that callers could take for parameters of this operation. A call that gives one is refused, not served without it. */
  readonly refuses?: readonly string[];
  /** Resolves to the result. @throws {CallError} a value cannot be used. Any other error is the service's failure. */
  run(this: void, call: Call, parameters: ParameterValues): Promise<string>;
}

/** The service object: the operations by name. */
export type Service = Readonly<Record<string, Operation>>;
