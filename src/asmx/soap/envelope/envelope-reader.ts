import { SaxesParser, type SaxesTagNS } from 'saxes';
import type { Envelope, MandatoryHeader } from './envelope';
import { Fault, unreadable } from './fault';
import { fragmentOf, type ElementContent } from './fragment';
import { SOAP_11, SOAP_12, type SoapVersion } from './soap-version';
import { isSecurityHeader, SecurityHeaderReader } from './ws-security';

/** Limits of a request's XML, checked while it is read. */
const MAX_DEPTH = 64;
const MAX_ELEMENTS = 250_000;
const MAX_ATTRIBUTES = 256;
const MAX_NAME_LENGTH = 1024;

/** Reads messages one after the other. */
export class EnvelopeReader {
  readonly #parser = new SaxesParser({ xmlns: true, defaultXMLVersion: '1.0', forceXMLVersion: true });
  readonly #open: SaxesTagNS[] = [];
  #xml = '';
  #attributes = 0;
  #elements = 0;
  #version: SoapVersion | undefined;
  #header = false;
  #body: ElementContent | undefined;
  #content: ElementContent | undefined;
  #mandatoryHeaders: MandatoryHeader[] = [];
  #security: SecurityHeaderReader | undefined;
  #insideSecurity = false;
  #element: { namespace: string; name: string } | undefined;

  /**
   * The parser keeps handlers as properties of itself. With more than these six V8 makes it a dictionary, and reading takes
   * four times as long; so mistakes are thrown by the parser, and what there is to say of a start tag is said at its end.
   */
  constructor() {
    const parser = this.#parser;
    parser.on('doctype', () => {
      throw unreadable('A document type declaration is not allowed in a SOAP message.');
    });
    parser.on('attribute', ({ name }) => {
      if (++this.#attributes > MAX_ATTRIBUTES)
        throw tooMuch(`an element with more than ${String(MAX_ATTRIBUTES)} attributes`);
      checkName(name);
    });
    parser.on('opentag', (tag) => {
      this.#opened(tag);
    });
    parser.on('text', (text) => {
      this.#text(text);
    });
    parser.on('cdata', (text) => {
      this.#text(text);
    });
    parser.on('closetag', (tag) => {
      this.#closed(tag);
    });
  }

  /** Begins with another message. */
  begin(xml: string): void {
    this.#xml = xml;
    this.#elements = 0;
    this.#version = undefined;
    this.#header = false;
    this.#body = undefined;
    this.#content = undefined;
    this.#mandatoryHeaders = [];
    this.#security = undefined;
    this.#element = undefined;
  }

  /** Reads a part of the text; the parts together must be all of it. */
  write(part: string): void {
    try {
      this.#parser.write(part);
    } catch (error) {
      throw mistake(error);
    }
  }

  /** Says that the whole text was written. */
  close(): Envelope {
    try {
      this.#parser.close();
    } catch (error) {
      throw mistake(error);
    }
    const xml = this.#xml;
    this.#xml = '';
    return this.#result(xml);
  }

  #result(xml: string): Envelope {
    const element = this.#element;
    const body = this.#body;
    const content = this.#content;
    if (body === undefined) throw invalid('Missing required soap:Body element.');
    return {
      version: this.#soapVersion,
      mandatoryHeaders: this.#mandatoryHeaders,
      security: this.#security,
      element,
      isPlain: !this.#header && body.children.length === 1 && !body.mixed && isEmpty(content),
      payload(operation) {
        const named = element?.name === operation.name && element.namespace === operation.namespace;
        return fragmentOf(xml, named && content !== undefined ? content : body);
      },
    };
  }

  get #soapVersion(): SoapVersion {
    return this.#version ?? SOAP_11;
  }

  #opened(tag: SaxesTagNS): void {
    checkName(tag.name);
    this.#attributes = 0;
    if (++this.#elements > MAX_ELEMENTS) throw tooMuch(`more than ${String(MAX_ELEMENTS)} elements`);
    if (this.#open.push(tag) > MAX_DEPTH) throw tooMuch(`elements nested deeper than ${String(MAX_DEPTH)} levels`);
    if (this.#insideSecurity) this.#security?.opened(tag);
    switch (this.#open.length) {
      case 1:
        this.#envelope(tag);
        break;
      case 2:
        this.#part(tag);
        break;
      case 3:
        this.#block(tag);
        break;
      case 4:
        if (isOpen(this.#content)) this.#child(this.#content, tag);
    }
  }

  #envelope(tag: SaxesTagNS): void {
    if (tag.local !== 'Envelope') throw invalid('Missing required soap:Envelope element.');
    this.#version = [SOAP_11, SOAP_12].find(({ namespace }) => namespace === tag.uri);
    if (this.#version === undefined) {
      throw new Fault(
        'VersionMismatch',
        `Possible SOAP version mismatch: Envelope namespace ${tag.uri} was unexpected. Expecting ${SOAP_11.namespace}.`,
      );
    }
  }

  #part(tag: SaxesTagNS): void {
    const isSoap = tag.uri === this.#soapVersion.namespace;
    if (isSoap && tag.local === 'Header' && !this.#header && this.#body === undefined) this.#header = true;
    else if (isSoap && tag.local === 'Body' && this.#body === undefined) this.#body = this.#newContent();
    // SOAP 1.1, section 4: elements of other namespaces may follow the body.
    else if (isSoap || this.#soapVersion === SOAP_12 || this.#body === undefined) {
      throw invalid(`The element ${tag.name} is not allowed here in soap:Envelope.`);
    }
  }

  #block(tag: SaxesTagNS): void {
    if (this.#body === undefined) this.#headerBlock(tag);
    else if (this.#body.end === undefined) {
      this.#child(this.#body, tag);
      if (this.#element !== undefined) return;
      this.#element = { namespace: tag.uri, name: tag.local };
      this.#content = this.#newContent();
    }
  }

  #headerBlock(tag: SaxesTagNS): void {
    const { namespace, roleAttribute, roles } = this.#soapVersion;
    let mandatory = false;
    let role = '';
    for (const attribute of Object.values(tag.attributes)) {
      if (attribute.uri !== namespace) continue;
      if (attribute.local === 'mustUnderstand') mandatory = ['1', 'true'].includes(attribute.value.trim());
      if (attribute.local === roleAttribute) role = attribute.value.trim();
    }
    if (!roles.has(role)) return;
    if (isSecurityHeader(tag)) this.#securityHeader(mandatory);
    else if (mandatory) this.#mandatoryHeaders.push({ namespace: tag.uri, name: tag.local });
  }

  #securityHeader(mandatory: boolean): void {
    this.#security ??= new SecurityHeaderReader();
    this.#security.begins(mandatory);
    this.#insideSecurity = true;
  }

  #newContent(): ElementContent {
    return {
      start: this.#parser.position,
      end: undefined,
      scope: this.#open.map(({ ns }) => ns),
      children: [],
      mixed: false,
    };
  }

  #child(parent: ElementContent, tag: SaxesTagNS): void {
    // No attribute value holds this character.
    const start = this.#xml.lastIndexOf('<', this.#parser.position - 1);
    parent.children.push({ nameEnd: start + 1 + tag.name.length, declared: tag.ns });
  }

  #text(text: string): void {
    if (this.#insideSecurity) this.#security?.text(text);
    if (/^[ \t\r\n]*$/.test(text)) return;
    const depth = this.#open.length;
    if (depth === 1 || (depth === 2 && this.#body === undefined)) {
      throw invalid(`Text is not allowed in ${this.#open.at(-1)?.name ?? ''}.`);
    }
    if (depth === 2 && isOpen(this.#body)) this.#body.mixed = true;
    if (depth === 3 && isOpen(this.#content)) this.#content.mixed = true;
  }

  #closed(tag: SaxesTagNS): void {
    const end = tag.isSelfClosing ? this.#parser.position : this.#xml.lastIndexOf('</', this.#parser.position - 1);
    if (this.#insideSecurity && this.#open.length > 3) this.#security?.closed();
    if (this.#open.length === 3) this.#insideSecurity = false;
    if (this.#open.length === 3 && this.#content !== undefined) this.#content.end ??= end;
    if (this.#open.length === 2 && this.#body !== undefined) this.#body.end ??= end;
    this.#open.pop();
  }
}

function isEmpty(content: ElementContent | undefined): boolean {
  return content?.children.length === 0 && !content.mixed;
}

function isOpen(content: ElementContent | undefined): content is ElementContent {
  return content !== undefined && content.end === undefined;
}

function checkName(name: string): void {
  if (name.length > MAX_NAME_LENGTH) throw tooMuch(`a name of more than ${String(MAX_NAME_LENGTH)} characters`);
}

function invalid(what: string): Fault {
  return new Fault('Client', `Server was unable to read request. ---> Request format is invalid: ${what}`);
}

function tooMuch(what: string): Fault {
  return unreadable(`The message has ${what}, which is more than this service reads.`);
}

/** What the parser throws is a mistake in the message. */
function mistake(error: unknown): Fault {
  return error instanceof Fault ? error : unreadable(readable((error as Error).message));
}

const MAX_REASON_LENGTH = 300;

/** The parser's `line:column: message` in words; it may quote the message, so it is kept short. */
function readable(message: string): string {
  const match = /^(\d+):(\d+): ([\s\S]*)$/.exec(message);
  const [line, column, what] = match === null ? ['1', '0', message] : [match[1], match[2], match[3]];
  return `${String(what).slice(0, MAX_REASON_LENGTH)} Line ${String(line)}, position ${String(column)}.`;
}
