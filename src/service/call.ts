import type { SenderAttributes } from '../events/cloud-event';
import type { Payload } from '../events/data-member';

/** The four ways in which an operation is called. */
export type Binding = 'soap11' | 'soap12' | 'httpget' | 'httppost';

/** Named values of a query string or form: a name that stands there once has a string, one that is repeated a list. */
export type Fields = Readonly<Record<string, string | string[] | undefined>>;

/** What a caller said beside the operation's name. */
export interface Content {
  /** The attributes of its event, where it sent a CloudEvent. */
  readonly attributes?: SenderAttributes | undefined;
  readonly payload?: Payload | undefined;
}

/** One call of an operation, whichever binding it came over. What costs work to find out is a function. */
export interface Call {
  readonly binding: Binding;
  /** HTTP method. */
  readonly method: string;
  /** Request target as it was received: path and query. */
  readonly target: string;
  /** HTTP header fields, names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The caller's network address. */
  remoteAddress(): string | undefined;
  /**
   * What the caller said beside the operation's name.
   *
   * @throws {CloudEventError} it sent a CloudEvent that is none.
   */
  content(): Content;
  /** Values with which a caller over HTTP GET or POST chooses what it gets; none over SOAP. */
  parameters(): Fields;
  /** Absolute address under which this caller reaches the endpoint. */
  endpointUrl(): string;
}

/** Thrown by an operation when a parameter has a value that it cannot use. The caller's mistake. */
export class ParameterError extends Error {
  override readonly name = 'ParameterError';

  constructor(parameter: string, allowed: string) {
    super(`The parameter ${parameter} must be ${allowed}.`);
  }
}

/** An operation: takes what came with the call, returns the one string that is its result. */
export type Operation = (call: Call) => Promise<string>;

/** What a caller needs for an operation: nothing, a key to record, or a key to read. */
export type Access = 'open' | 'record' | 'read';

/** The operations by name. */
export type Service = Readonly<Record<string, Operation>>;
