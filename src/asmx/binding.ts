import type { IncomingMessage } from 'node:http';
import type { Proof } from '../http/access';
import type { ReadBody } from '../http/body';
import type { EndpointAddress } from './call';

/** Decides who may call which operation. */
export interface OperationAccess {
  /** Whether {@link OperationAccess.check} needs the request's body. */
  needsBody(request: IncomingMessage): boolean;
  /** @throws {RequestError} this caller may not call this operation. */
  check(operation: string, request: IncomingMessage, proof: Proof): void;
}

/** What a binding needs beside the contract and the service. */
export interface BindingOptions extends EndpointAddress {
  readonly readBody: ReadBody;
  /** Undefined: everybody may call every operation. */
  readonly access: OperationAccess | undefined;
}
