import type { IncomingMessage } from 'node:http';
import type { Proof } from '../http/access';
import type { ReadBody } from '../http/body';
import type { InFlight } from '../http/in-flight';
import type { RateLimit } from '../http/rate-limit';
import type { Turns } from '../turns';
import { RequestError, type Refusal } from '../http/request-error';
import type { Binding } from '../service/call';
import type { EndpointAddress } from './call';

/** Decides who may call which operation. */
export interface OperationAccess {
  /** Whether {@link OperationAccess.check} needs the request's body. */
  needsBody(request: IncomingMessage): boolean;
  /** @throws {RequestError} this caller may not call this operation. */
  check(operation: string, request: IncomingMessage, proof: Proof): void;
}

/** How a call ended. */
export interface CallReport {
  readonly binding: Binding;
  /** Undefined: the call named none that there is. */
  readonly operation: string | undefined;
  /** When its header was there, in the time of `performance.now()`. */
  readonly started: number;
  /** What it was refused for; undefined: it was not. */
  readonly refusal?: Refusal;
  /** Why it was refused or failed; undefined: it was answered. */
  readonly error?: unknown;
}

/** What a binding needs beside the contract and the service. */
export interface BindingOptions extends EndpointAddress {
  readonly readBody: ReadBody;
  readonly inFlight: InFlight;
  readonly turns: Turns;
  /** Undefined: every client may send as much as it likes. */
  readonly rate: RateLimit | undefined;
  /** Undefined: everybody may call every operation. */
  readonly access: OperationAccess | undefined;
  /** Hears of every call when it has ended. */
  report(request: IncomingMessage, report: CallReport): void;
}

/** What an error that is the caller's own is called. */
export function refusalOf(error: unknown): Refusal {
  const cause = error instanceof Error && error.cause instanceof RequestError ? error.cause : error;
  return cause instanceof RequestError ? cause.refusal : 'invalid';
}
