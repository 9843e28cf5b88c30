import { SaxesParser, type SaxesTagNS } from 'saxes';
import { ElementContent } from './element-content';
import { shortened } from '../../../lang/shortened';
import type { Envelope } from './envelope';
import { Fault, FAULTS } from '../fault';
import { fragmentOf, growthOf } from './fragment';
import type { ElementName } from './qualified-name';
import { SOAP_11, SOAP_12, type SoapVersion } from '../soap-version';
import { isSecurityHeader, SecurityHeaderReader } from '../ws-security';

/** Limits on a message's XML, each checked while it is read. */
const MAX_DEPTH = 64;
const MAX_ELEMENTS = 250_000;
const MAX_ATTRIBUTES = 256;
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

/**
 * Reads SOAP messages, one at a time, from their text in parts: `begin`, `write` for each part, `close`. After it has thrown it
 * stands in the middle of a message and must not be used again.
 */
export class EnvelopeReader {
  readonly #parser = new SaxesParser({ xmlns: true, defaultXMLVersion: '1.0', forceXMLVersion: true });
  /** The open elements, outermost first. */
  readonly #open: SaxesTagNS[] = [];
  #xml = '';
  #attributes = 0;
  #elements = 0;
  #version: SoapVersion | undefined;
  #hasHeader = false;
  #hasAddressing = false;
  #body: ElementContent | undefined;
  #content: ElementContent | undefined;
  #mandatoryHeaders: ElementName[] = [];
  #security: SecurityHeaderReader | undefined;
  #insideSecurity = false;
  /** The first element of the body. */
  #bodyElement: ElementName | undefined;
  #beginsWithText = false;

  /**
   * The parser keeps its handlers as properties. With more than these six V8 turns it into a dictionary, and reading takes four
   * times as long. So there is no handler for errors, which the parser then throws, and none for the beginning of a start tag.
   */
  constructor() {
    const parser = this.#parser;
    parser.on('doctype', () => {
      throw FAULTS.unreadable('A document type declaration is not allowed in a SOAP message.');
    });
    parser.on('attribute', ({ name }) => {
      if (++this.#attributes > MAX_ATTRIBUTES)
        throw tooMuch(`an element with more than ${String(MAX_ATTRIBUTES)} attributes`);
      checkName(name);
    });
    parser.on('opentag', (tag) => {
      this.#openElement(tag);
    });
    parser.on('text', (text) => {
      this.#addText(text);
    });
    parser.on('cdata', (text) => {
      this.#addText(text);
    });
    parser.on('closetag', (tag) => {
      this.#closeElement(tag);
    });
  }

  /** Begins a message; the text is all of it. */
  begin(xml: string): void {
    this.#xml = xml;
    this.#elements = 0;
    this.#version = undefined;
    this.#hasHeader = false;
    this.#hasAddressing = false;
    this.#body = undefined;
    this.#content = undefined;
    this.#mandatoryHeaders = [];
    this.#security = undefined;
    this.#bodyElement = undefined;
    this.#beginsWithText = false;
  }

  /**
   * Reads the next part of the text. The parts together must be the text that `begin` was given.
   *
   * @throws {Fault} the text so far is not XML, or not a SOAP message.
   */
  write(part: string): void {
    try {
      this.#parser.write(part);
    } catch (error) {
      throw faultOf(error);
    }
  }

  /**
   * Ends the message.
   *
   * @throws {Fault} the text ends too early, or the message has no body.
   */
  close(): Envelope {
    try {
      this.#parser.close();
    } catch (error) {
      throw faultOf(error);
    }
    const xml = this.#xml;
    this.#xml = '';
    return this.#envelope(xml);
  }

  #envelope(xml: string): Envelope {
    const element = this.#bodyElement;
    const body = this.#body;
    const content = this.#content;
    if (body === undefined) throw FAULTS.invalidFormat('Missing required soap:Body element.');
    const contentFor = (operation: ElementName): ElementContent => {
      const isNamed = element?.name === operation.name && element.namespace === operation.namespace;
      return isNamed && content !== undefined ? content : body;
    };
    return {
      version: this.#soapVersion,
      mandatoryHeaders: this.#mandatoryHeaders,
      security: this.#security,
      hasAddressing: this.#hasAddressing,
      element: this.#beginsWithText ? undefined : element,
      isPlain: !this.#hasHeader && body.children.length === 1 && !body.hasText && isEmpty(content),
      payload: (operation) => fragmentOf(xml, contentFor(operation)),
      payloadGrowth: (operation) => growthOf(contentFor(operation)),
    };
  }

  get #soapVersion(): SoapVersion {
    return this.#version ?? SOAP_11;
  }

  #openElement(tag: SaxesTagNS): void {
    checkName(tag.name);
    this.#attributes = 0;
    if (++this.#elements > MAX_ELEMENTS) throw tooMuch(`more than ${String(MAX_ELEMENTS)} elements`);
    if (this.#open.push(tag) > MAX_DEPTH) throw tooMuch(`elements nested deeper than ${String(MAX_DEPTH)} levels`);
    if (this.#insideSecurity) this.#security?.openElement(tag);
    switch (this.#open.length) {
      case 1:
        this.#openEnvelope(tag);
        break;
      case 2:
        this.#openHeaderOrBody(tag);
        break;
      case 3:
        this.#openBlock(tag);
        break;
      case 4:
        if (isOpen(this.#content)) this.#openChild(this.#content, tag);
    }
    if (this.#open.length > BODY_DEPTH && isOpen(this.#body)) this.#body.addTag(tag);
    if (this.#open.length > OPERATION_DEPTH && isOpen(this.#content)) this.#content.addTag(tag);
  }

  #openEnvelope(tag: SaxesTagNS): void {
    if (tag.local !== 'Envelope') throw FAULTS.invalidFormat('Missing required soap:Envelope element.');
    this.#version = [SOAP_11, SOAP_12].find(({ namespace }) => namespace === tag.uri);
    if (this.#version === undefined) throw FAULTS.envelopeNamespace(tag.uri);
  }

  #openHeaderOrBody(tag: SaxesTagNS): void {
    const isSoap = tag.uri === this.#soapVersion.namespace;
    if (isSoap && tag.local === 'Header' && !this.#hasHeader && this.#body === undefined) this.#hasHeader = true;
    else if (isSoap && tag.local === 'Body' && this.#body === undefined) this.#body = this.#newContent();
    // SOAP 1.1, section 4: elements of other namespaces may follow the body.
    else if (isSoap || this.#soapVersion === SOAP_12 || this.#body === undefined) {
      throw FAULTS.invalidFormat(`The element ${shortened(tag.name)} is not allowed here in soap:Envelope.`);
    }
  }

  #openBlock(tag: SaxesTagNS): void {
    if (this.#body === undefined) this.#openHeaderBlock(tag);
    else if (this.#body.end === undefined) {
      this.#openChild(this.#body, tag);
      if (this.#bodyElement !== undefined) return;
      this.#bodyElement = { namespace: tag.uri, name: tag.local };
      this.#content = this.#newContent();
    }
  }

  #openHeaderBlock(tag: SaxesTagNS): void {
    const { namespace, roleAttribute, roles } = this.#soapVersion;
    let mandatory = false;
    let role = '';
    for (const attribute of Object.values(tag.attributes)) {
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

  #newContent(): ElementContent {
    return new ElementContent(this.#parser.position, this.#open);
  }

  #openChild(parent: ElementContent, tag: SaxesTagNS): void {
    // An attribute value cannot hold this character.
    const start = this.#xml.lastIndexOf('<', this.#parser.position - 1);
    parent.openChild(start + 1 + tag.name.length, tag);
  }

  #addText(text: string): void {
    if (this.#insideSecurity) this.#security?.addText(text);
    if (/^[ \t\r\n]*$/.test(text)) return;
    const depth = this.#open.length;
    if (depth === 1 || (depth === 2 && this.#body === undefined)) {
      throw FAULTS.invalidFormat(`Text is not allowed in ${shortened(this.#open.at(-1)?.name ?? '')}.`);
    }
    if (depth === BODY_DEPTH && this.#bodyElement === undefined) this.#beginsWithText = true;
    if (isOpen(this.#body)) this.#addContentText(this.#body, BODY_DEPTH, text);
    if (isOpen(this.#content)) this.#addContentText(this.#content, OPERATION_DEPTH, text);
  }

  #addContentText(content: ElementContent, depth: number, text: string): void {
    if (this.#open.length > depth) content.addText(text);
    else content.hasText = true;
  }

  #closeElement(tag: SaxesTagNS): void {
    const end = tag.isSelfClosing ? this.#parser.position : this.#xml.lastIndexOf('</', this.#parser.position - 1);
    if (this.#insideSecurity && this.#open.length > 3) this.#security?.closeElement();
    if (this.#open.length === 3) this.#insideSecurity = false;
    if (this.#open.length === 3 && this.#content !== undefined) this.#content.end ??= end;
    if (this.#open.length === 2 && this.#body !== undefined) this.#body.end ??= end;
    this.#open.pop();
  }
}

function isEmpty(content: ElementContent | undefined): boolean {
  return content?.children.length === 0 && !content.hasText;
}

function isOpen(content: ElementContent | undefined): content is ElementContent {
  return content !== undefined && content.end === undefined;
}

function checkName(name: string): void {
  if (name.length > MAX_NAME_LENGTH) throw tooMuch(`a name of more than ${String(MAX_NAME_LENGTH)} characters`);
}

function tooMuch(what: string): Fault {
  return FAULTS.unreadable(`The message has ${what}, which is more than this service reads.`);
}

/** The fault for what reading throws: the parser throws only for mistakes in the message. */
function faultOf(error: unknown): Fault {
  return error instanceof Fault ? error : FAULTS.unreadable(reasonOf((error as Error).message));
}

/** Puts the parser's `line:column: reason` into words. The reason may quote the message, so it is shortened. */
function reasonOf(message: string): string {
  return message.replace(
    /^(\d+):(\d+): ([\s\S]*)$/,
    (_all, line: string, column: string, what: string) => `${shortened(what)} Line ${line}, position ${column}.`,
  );
}
