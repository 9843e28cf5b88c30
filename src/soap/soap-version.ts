import { create } from 'xmlbuilder2';
import { builderText } from '../xml/characters';

/** The namespaces that every envelope declares besides its own, in the original's order. */
export const SCHEMA_NAMESPACES: Readonly<Record<string, string>> = {
  'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
  'xmlns:xsd': 'http://www.w3.org/2001/XMLSchema',
};

const NAMESPACE_12 = 'http://www.w3.org/2003/05/soap-envelope';

/** A SOAP version: how its messages differ from the other's. */
export class SoapVersion {
  /** SOAP 1.1 (W3C Note, 8 May 2000). */
  static readonly soap11 = new this('soap11', 'http://schemas.xmlsoap.org/soap/envelope/', 'text/xml', 'actor', [
    'http://schemas.xmlsoap.org/soap/actor/next',
  ]);

  /** SOAP 1.2 (W3C Recommendation, 27 April 2007). */
  static readonly soap12 = new this('soap12', NAMESPACE_12, 'application/soap+xml', 'role', [
    `${NAMESPACE_12}/role/next`,
    `${NAMESPACE_12}/role/ultimateReceiver`,
  ]);

  static readonly all: readonly SoapVersion[] = [this.soap11, this.soap12];

  /** Of a reply. */
  readonly contentType: string;
  /** The roles this service acts in; the empty one is that of a header block without a role. */
  readonly roles: ReadonlySet<string>;

  private constructor(
    readonly binding: 'soap11' | 'soap12',
    readonly namespace: string,
    readonly mediaType: string,
    /** Name of the attribute that addresses a header block to a role. */
    readonly roleAttribute: string,
    roles: readonly string[],
  ) {
    this.contentType = `${mediaType}; charset=utf-8`;
    this.roles = new Set(['', ...roles]);
  }

  /**
   * Writes an operation's request as the interface document shows it, indented if a person will read it.
   *
   * @param given - the arguments, in the order of the schema.
   */
  request(
    operation: string,
    namespace: string,
    prettyPrint: boolean,
    given: ReadonlyMap<string, string> = new Map(),
  ): string {
    const prefix = this === SoapVersion.soap12 ? 'soap12' : 'soap';
    const element = create({ version: '1.0', encoding: 'utf-8' })
      .ele(this.namespace, `${prefix}:Envelope`)
      .att(SCHEMA_NAMESPACES)
      .ele(`${prefix}:Body`)
      .ele(builderText(namespace), operation);
    for (const [name, text] of given) element.ele(name).txt(builderText(text));
    return element.end({ prettyPrint, spaceBeforeSlash: true });
  }
}
