import { shortened } from '../../util/text';
import { Fault, FAULTS } from '../fault';
import { SOAP_11, SOAP_12, type SoapVersion } from '../soap-version';
import { isSecurityHeader, SecurityHeaderReader } from '../ws-security';
import { isSpace } from '../../xml/characters';
import type { Tag, XmlHandler } from '../../xml/tag';
import { ElementContent } from './element-content';
import type { Envelope } from './envelope';
import { fragmentOf, growthOf } from './fragment';
import { forEachPrefix } from './prefixes';
import type { ElementName } from './qualified-name';

/** Limits on a message's XML, each checked while it is read. */
const MAX_DEPTH = 64;
const MAX_ELEMENTS = 250_000;
const MAX_NAME_LENGTH = 1024;

/** A message with a single one of them is refused; more are only named in the fault. */
const MAX_MANDATORY_HEADERS = 64;

/** Namespaces of WS-Addressing: 1.0 and the submission of 2004, which WCF and older clients use. */
const ADDRESSING = new Set([
  'http://www.w3.org/2005/08/addressing',
  'http://schemas.xmlsoap.org/ws/2004/08/addressing',
]);

/** How many elements are open directly in the body, and in the operation's element. */
const BODY_DEPTH = 2;
const OPERATION_DEPTH = 3;

/** Finds in the XML of a SOAP message, while that is read, what the service needs of it, and refuses what is not SOAP. */
export class EnvelopeBuilder implements XmlHandler {
  readonly #xml: string;
  readonly #versions: readonly SoapVersion[];
  /** The open elements, outermost first. */
  readonly #open: Tag[] = [];
  #elements = 0;
  #version: SoapVersion = SOAP_11;
  #hasHeader = false;
  #hasAddressing = false;
  #body: ElementContent | undefined;
  #content: ElementContent | undefined;
  readonly #mandatoryHeaders: ElementName[] = [];
  #security: SecurityHeaderReader | undefined;
  #insideSecurity = false;
  /** The first element of the body. */
  #bodyElement: ElementName | undefined;
  #beginsWithText = false;

  /**
   * @param xml - the whole message.
   * @param versions - those that are read; one at least.
   */
  constructor(xml: string, versions: readonly SoapVersion[]) {
    this.#xml = xml;
    this.#versions = versions;
  }

  /**
   * What has been found; only after the message has been read to its end.
   *
   * @throws {Fault} the message has no body.
   */
  envelope(): Envelope {
    const xml = this.#xml;
    const element = this.#bodyElement;
    const body = this.#body;
    const content = this.#content;
    if (body === undefined) throw FAULTS.invalidFormat('Missing required soap:Body element.');
    const contentFor = (operation: ElementName): ElementContent => {
      const isNamed = element?.name === operation.name && element.namespace === operation.namespace;
      return isNamed && content !== undefined ? content : body;
    };
    return {
      version: this.#version,
      mandatoryHeaders: this.#mandatoryHeaders,
      security: this.#security,
      hasAddressing: this.#hasAddressing,
      element: this.#beginsWithText ? undefined : element,
      payload: (operation) => fragmentOf(xml, contentFor(operation)),
      payloadGrowth: (operation) => growthOf(contentFor(operation)),
    };
  }

  openElement(tag: Tag, start: number, end: number): void {
    checkName(tag.name);
    if (++this.#elements > MAX_ELEMENTS) throw tooMuch(`more than ${String(MAX_ELEMENTS)} elements`);
    const depth = this.#open.push(tag);
    if (depth > MAX_DEPTH) throw tooMuch(`elements nested deeper than ${String(MAX_DEPTH)} levels`);
    if (this.#insideSecurity) this.#security?.openElement(tag);
    const nameEnd = start + 1 + tag.name.length;
    switch (depth) {
      case 1:
        this.#openEnvelope(tag);
        break;
      case 2:
        this.#openHeaderOrBody(tag, end);
        break;
      case 3:
        this.#openBlock(tag, nameEnd, end);
        break;
      case 4:
        if (isOpen(this.#content)) this.#content.openChild(nameEnd, tag);
    }
    if (depth > BODY_DEPTH && isOpen(this.#body)) this.#usePrefixesOf(tag);
  }

  addText(text: string): void {
    if (this.#insideSecurity) this.#security?.addText(text);
    if (isSpace(text)) return;
    const depth = this.#open.length;
    if (depth === 1 || (depth === 2 && this.#body === undefined)) {
      throw FAULTS.invalidFormat(`Text is not allowed in ${shortened(this.#open.at(-1)?.name ?? '')}.`);
    }
    if (depth === BODY_DEPTH && this.#bodyElement === undefined) this.#beginsWithText = true;
    if (!isOpen(this.#body)) return;
    if (depth > BODY_DEPTH) forEachPrefix(text, this.#use);
    else this.#body.hasText = true;
    if (depth === OPERATION_DEPTH && isOpen(this.#content)) this.#content.hasText = true;
  }

  closeElement(contentEnd: number): void {
    const depth = this.#open.length;
    if (this.#insideSecurity && depth > 3) this.#security?.closeElement();
    if (depth === 3) this.#insideSecurity = false;
    if (depth === 3 && this.#content !== undefined) this.#content.end ??= contentEnd;
    if (depth === 2 && this.#body !== undefined) this.#body.end ??= contentEnd;
    this.#open.pop();
  }

  /** An element in the body uses the prefixes of its name and its attributes, and those that the values have. */
  #usePrefixesOf({ prefix, attributes }: Tag): void {
    if (prefix !== '') this.#use(prefix);
    for (const attribute of attributes) {
      if (attribute.prefix !== '') this.#use(attribute.prefix);
      forEachPrefix(attribute.value, this.#use);
    }
  }

  /**
   * Something in the body uses a prefix. Text and values may be qualified names, as in `xsi:type="xsd:int"`, or hold some, as
   * XPath does.
   */
  readonly #use = (prefix: string): void => {
    this.#body?.use(prefix);
    if (this.#open.length > OPERATION_DEPTH && isOpen(this.#content)) this.#content.use(prefix);
  };

  #openEnvelope(tag: Tag): void {
    if (tag.local !== 'Envelope') throw FAULTS.invalidFormat('Missing required soap:Envelope element.');
    const version = this.#versions.find(({ namespace }) => namespace === tag.uri);
    if (version === undefined) throw FAULTS.envelopeNamespace(tag.uri, this.#versions);
    this.#version = version;
  }

  #openHeaderOrBody(tag: Tag, end: number): void {
    const isSoap = tag.uri === this.#version.namespace;
    if (isSoap && tag.local === 'Header' && !this.#hasHeader && this.#body === undefined) this.#hasHeader = true;
    else if (isSoap && tag.local === 'Body' && this.#body === undefined)
      this.#body = new ElementContent(end, tag.scope);
    // SOAP 1.1, section 4: elements of other namespaces may follow the body.
    else if (isSoap || this.#version === SOAP_12 || this.#body === undefined) {
      throw FAULTS.invalidFormat(`The element ${shortened(tag.name)} is not allowed here in soap:Envelope.`);
    }
  }

  #openBlock(tag: Tag, nameEnd: number, end: number): void {
    if (this.#body === undefined) this.#openHeaderBlock(tag);
    else if (this.#body.end === undefined) {
      this.#body.openChild(nameEnd, tag);
      if (this.#bodyElement !== undefined) return;
      this.#bodyElement = { namespace: tag.uri, name: tag.local };
      this.#content = new ElementContent(end, tag.scope);
    }
  }

  #openHeaderBlock(tag: Tag): void {
    const { namespace, roleAttribute, roles } = this.#version;
    let mandatory = false;
    let role = '';
    for (const attribute of tag.attributes) {
      if (attribute.uri !== namespace) continue;
      if (attribute.local === 'mustUnderstand') mandatory = ['1', 'true'].includes(attribute.value.trim());
      if (attribute.local === roleAttribute) role = attribute.value.trim();
    }
    if (ADDRESSING.has(tag.uri)) this.#hasAddressing = true;
    if (!roles.has(role)) return;
    if (isSecurityHeader(tag)) this.#openSecurityHeader(mandatory);
    else if (mandatory) this.#addMandatory({ namespace: tag.uri, name: tag.local });
  }

  #addMandatory(block: ElementName): void {
    const isKnown = this.#mandatoryHeaders.some(
      ({ namespace, name }) => namespace === block.namespace && name === block.name,
    );
    if (!isKnown && this.#mandatoryHeaders.length < MAX_MANDATORY_HEADERS) this.#mandatoryHeaders.push(block);
  }

  #openSecurityHeader(mandatory: boolean): void {
    this.#security ??= new SecurityHeaderReader();
    this.#security.open(mandatory);
    this.#insideSecurity = true;
  }
}

function isOpen(content: ElementContent | undefined): content is ElementContent {
  return content !== undefined && content.end === undefined;
}

/** @throws {Fault} the name of an element or of an attribute is too long. */
export function checkName(name: string): void {
  if (name.length > MAX_NAME_LENGTH) throw tooMuch(`a name of more than ${String(MAX_NAME_LENGTH)} characters`);
}

/** The fault for a message that exceeds a limit. */
export function tooMuch(what: string): Fault {
  return FAULTS.unreadable(`The message has ${what}, which is more than this service reads.`);
}
