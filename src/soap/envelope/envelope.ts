import type { ElementName } from './qualified-name';
import type { SoapVersion } from '../soap-version';
import type { SecurityHeader } from '../ws-security';

/** What the service needs of a SOAP message. */
export interface Envelope {
  readonly version: SoapVersion;
  /**
   * The header blocks (SOAP 1.2 part 1, section 5.2) that are addressed to this service and must be understood, except
   * WS-Security headers: each name once, and 64 at most.
   */
  readonly mandatoryHeaders: readonly ElementName[];
  /** The WS-Security header addressed to this service; undefined: the message has none. */
  readonly security: SecurityHeader | undefined;
  /** Whether it has a WS-Addressing header block. */
  readonly hasAddressing: boolean;
  /** The element that begins the body; undefined: the body is empty or begins with text. */
  readonly element: ElementName | undefined;
  /**
   * The content of the body's first element if that is the operation's, otherwise the content of the body, as an XML fragment
   * that declares every prefix it uses. Undefined: it is only white space and comments.
   */
  payload(operation: ElementName): string | undefined;
  /** How many characters longer the payload is than it was in the message. */
  payloadGrowth(operation: ElementName): number;
}
