import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from '../errors';

/** A request or connection that was refused before a handler saw it, or by a handler that left the answer to the server. */
export interface Refused {
  readonly refusal: Refusal;
  /** Why, as a sentence. */
  readonly reason: string;
  /** HTTP status of the answer; undefined: there was none. */
  readonly status: number | undefined;
  /** The address of the connection. */
  readonly remoteAddress: string | undefined;
  /** Undefined: none could be read. */
  readonly request?: IncomingMessage;
}

/** Is told what no handler sees. */
export interface ServerObserver {
  refused(this: void, refused: Refused): void;
  /**
   * A request was answered, or its caller went away, so many milliseconds after its header arrived. Undefined: nobody wants
   * to know.
   */
  readonly answered?: ((request: IncomingMessage, response: ServerResponse, milliseconds: number) => void) | undefined;
}
