import type { EventContent } from '../events/event';
import { eventPayload } from '../events/payload';
import type { CallContent } from '../service/call';
import { shortened } from '../util/text';
import { ElementContent } from '../xml/element-content';
import type { ElementName, Tag } from '../xml/handler';
import { Arguments } from './arguments';
import { FAULTS } from './fault';
import { SoapVersion } from './soap-version';
import { isSecurityHeader, SecurityHeaderReader, type SecurityHeader } from './ws-security';

/** A SOAP message, as far as the service needs it, and the content of its call if that records. */
export interface SoapMessage {
  readonly binding: SoapVersion['binding'];
  /** The header blocks addressed to this service that must be understood, but for WS-Security: 64 at most. */
  readonly mandatoryHeaders: readonly ElementName[];
  readonly security: SecurityHeader | undefined;
  readonly hasAddressing: boolean;
  /** The element that begins the body, unless the body is empty or begins with text. */
  readonly element: ElementName | undefined;
  /** Those of the operation that the element names, if it has parameters. */
  readonly arguments: Pick<Arguments, 'texts' | 'otherNamespace' | 'withElements'> | undefined;
  readonly content: CallContent;
  /** Advice to the sender about the character set, a sentence each. */
  readonly hints: readonly string[];
}

/** The operation that the header fields of a request name, for a message of each version. */
export type NamedOperations = Readonly<Partial<Record<SoapVersion['binding'], string | undefined>>>;

/** The parts of the contract that reading a message needs, also in another thread. */
export interface MessageContract {
  /** At least one. */
  readonly bindings: readonly SoapVersion['binding'][];
  readonly namespace: string;
  /** Of each operation the names of its parameters, and of those that it refuses. */
  readonly argumentNames: ReadonlyMap<string, ReadonlySet<string>>;
  /** The names of the operations that record what they are sent. */
  readonly recording: ReadonlySet<string>;
}

/** A message with a single one of them is refused; more are only named in the fault. */
const MAX_MANDATORY_HEADERS = 64;

/** Namespaces of WS-Addressing: 1.0 and the submission of 2004. */
const ADDRESSING = new Set([
  'http://www.w3.org/2005/08/addressing',
  'http://schemas.xmlsoap.org/ws/2004/08/addressing',
]);

/** A character other than the white space of XML. */
const NOT_SPACE = /[^\t\n\r ]/;

/** Of soap:Header and soap:Body; soap:Envelope is at 1. */
const PART_DEPTH = 2;
/** Of header blocks, and of the elements in soap:Body. */
const BLOCK_DEPTH = 3;
/** Of the elements in those: in an operation's, the arguments. */
const CHILD_DEPTH = 4;

/** Namespaces of attributes that say how a message is written, such as `encodingStyle`; any other is the element's own. */
const ATTRIBUTES_OF_SOAP: ReadonlySet<string> = new Set([
  ...SoapVersion.all.map(({ namespace }) => namespace),
  'http://schemas.xmlsoap.org/soap/encoding/',
  'http://www.w3.org/2003/05/soap-encoding',
]);

/** Collects what the service needs of a message while its XML is read, and refuses what is not SOAP. */
export class EnvelopeBuilder {
  #depth = 0;
  #version: SoapVersion = SoapVersion.soap11;
  #hasHeader = false;
  #hasAddressing = false;
  readonly #mandatoryHeaders: ElementName[] = [];
  #security: SecurityHeaderReader | undefined;
  #insideSecurity = false;
  #scope: Tag['scope'] | undefined;
  /** soap:Body with its tags, if it has attributes of its own. */
  #bodyWithTags: ElementContent | undefined;
  /** The content of soap:Body. */
  #body: ElementContent | undefined;
  /** The first element of the body, its content, and the arguments in it if it is an operation's. */
  #element: ElementName | undefined;
  #elementContent: ElementContent | undefined;
  #arguments: Arguments | undefined;
  /** Whether that element has attributes of its own. */
  #hasAttributes = false;
  /** Whether the body has text before that element. */
  #beginsWithText = false;

  constructor(
    private readonly xml: string,
    private readonly contract: MessageContract,
  ) {}

  /** Returns the message, once it has been read to its end. @throws {Fault} it has no body. */
  message(named: NamedOperations, hints: readonly string[]): SoapMessage {
    if (this.#body === undefined) throw FAULTS.missingBody();
    const { binding } = this.#version;
    const element = this.#beginsWithText ? undefined : this.#element;
    // Only decides what is kept: SoapCall finds the operation, or refuses the message.
    const operation = named[binding] ?? element?.name ?? '';
    return {
      binding,
      mandatoryHeaders: this.#mandatoryHeaders,
      security: this.#security?.header(),
      hasAddressing: this.#hasAddressing,
      element,
      arguments: this.#arguments,
      content: this.contract.recording.has(operation) ? this.#contentFor(operation) : {},
      hints,
    };
  }

  #contentFor(operation: string): CallContent {
    const [content, soapPart] = this.#recordedPart(operation);
    const text = content?.text(FAULTS.payloadGrowth);
    return text === undefined ? {} : { payload: eventPayload({ mediaType: 'application/xml', text }), soapPart };
  }

  /** Returns {@link #bodyWithTags}, if any, the content of the operation's element if that is all of the body, or else the body's. */
  #recordedPart(operation: string): [content: ElementContent | undefined, part?: EventContent['soapPart']] {
    if (this.#bodyWithTags !== undefined) return [this.#bodyWithTags, 'envelope'];
    const isNamed = this.#element?.name === operation && this.#element.namespace === this.contract.namespace;
    const content = this.#elementContent;
    const isAll =
      isNamed && !this.#hasAttributes && content !== undefined && this.#body?.hasMoreThan(content) === false;
    return isAll ? [content] : [this.#body, 'body'];
  }

  openElement(tag: Tag, start: number, end: number): void {
    const depth = ++this.#depth;
    if (this.#insideSecurity) this.#security?.openElement(tag);
    if (depth === 1) this.#openEnvelope(tag);
    else if (depth === PART_DEPTH) this.#openHeaderOrBody(tag, start, end);
    else if (depth === BLOCK_DEPTH) this.#openBlock(tag, start, end);
    else if (isOpen(this.#elementContent)) {
      if (depth === CHILD_DEPTH) {
        this.#elementContent.addChild(start, tag);
        this.#arguments?.openChild(tag);
      } else this.#arguments?.openInner();
    }
  }

  addText(text: string): void {
    if (this.#insideSecurity) this.#security?.addText(text);
    this.#arguments?.addText(text);
    const depth = this.#depth;
    if (depth > BLOCK_DEPTH || !NOT_SPACE.test(text)) return;
    // As in the original, text in soap:Header and after soap:Body is ignored.
    if (depth === 1 && this.#body === undefined) throw FAULTS.missingBody();
    if (depth === BLOCK_DEPTH && isOpen(this.#elementContent)) this.#elementContent.hasText = true;
    if (depth !== PART_DEPTH || !isOpen(this.#body)) return;
    this.#body.hasText = true;
    if (this.#element === undefined) this.#beginsWithText = true;
  }

  closeElement(contentEnd: number): void {
    const depth = this.#depth--;
    if (this.#insideSecurity && depth > BLOCK_DEPTH) this.#security?.closeElement();
    if (depth === CHILD_DEPTH) this.#arguments?.closeChild();
    if (depth === BLOCK_DEPTH) {
      this.#insideSecurity = false;
      // Elements that follow close at this depth, too: the first end counts.
      if (this.#elementContent !== undefined) this.#elementContent.end ??= contentEnd;
    }
    if (depth === PART_DEPTH && this.#body !== undefined) {
      this.#body.end ??= contentEnd;
      if (this.#bodyWithTags !== undefined) this.#bodyWithTags.end = this.#body.elementEnd;
    }
  }

  #openEnvelope(tag: Tag): void {
    if (tag.local !== 'Envelope') throw FAULTS.invalidFormat('Missing required soap:Envelope element.');
    const { bindings } = this.contract;
    const version = SoapVersion.all.find(
      ({ binding, namespace }) => namespace === tag.uri && bindings.includes(binding),
    );
    if (version === undefined) throw FAULTS.envelopeNamespace(tag.uri, bindings);
    this.#version = version;
    this.#scope = tag.scope;
  }

  #openHeaderOrBody(tag: Tag, start: number, end: number): void {
    const part = tag.uri === this.#version.namespace ? tag.local : undefined;
    if (this.#body === undefined) {
      if (part === 'Body') this.#openBody(tag, start, end);
      else if (part === 'Header' && !this.#hasHeader) this.#hasHeader = true;
      else throw FAULTS.missingBody();
      // As in the original, what follows the body is ignored, but SOAP 1.2 forbids other elements; SOAP 1.1, section 4, allows them.
    } else if (this.#version === SoapVersion.soap12 && part !== 'Header' && part !== 'Body')
      throw FAULTS.invalidFormat(`The element ${shortened(tag.name)} is not allowed after soap:Body.`);
  }

  #openBody(tag: Tag, start: number, end: number): void {
    this.#body = new ElementContent(this.xml, end, tag.scope);
    if (!hasOwnAttributes(tag)) return;
    this.#bodyWithTags = new ElementContent(this.xml, start, this.#scope);
    this.#bodyWithTags.addChild(start, tag);
  }

  #openBlock(tag: Tag, start: number, end: number): void {
    if (this.#body === undefined) this.#openHeaderBlock(tag);
    else if (isOpen(this.#body)) {
      this.#body.addChild(start, tag);
      if (this.#element === undefined) this.#openFirst(tag, end);
    }
  }

  #openFirst(tag: Tag, end: number): void {
    const { uri, local } = tag;
    this.#element = { namespace: uri, name: local };
    this.#hasAttributes = hasOwnAttributes(tag);
    this.#elementContent = new ElementContent(this.xml, end, tag.scope);
    if (uri !== this.contract.namespace || this.#beginsWithText) return;
    const names = this.contract.argumentNames.get(local);
    if (names !== undefined && names.size > 0) this.#arguments = new Arguments(uri, names);
  }

  #openHeaderBlock(tag: Tag): void {
    const { namespace, roleAttribute, roles } = this.#version;
    const valueOf = (name: string) =>
      tag.attributes.find(({ uri, local }) => uri === namespace && local === name)?.value.trim() ?? '';
    const mandatory = ['1', 'true'].includes(valueOf('mustUnderstand'));
    if (ADDRESSING.has(tag.uri)) this.#hasAddressing = true;
    if (!roles.has(valueOf(roleAttribute))) return;
    if (isSecurityHeader(tag)) {
      this.#security ??= new SecurityHeaderReader();
      this.#security.open(mandatory);
      this.#insideSecurity = true;
    } else if (mandatory && this.#mandatoryHeaders.length < MAX_MANDATORY_HEADERS)
      this.#mandatoryHeaders.push({ namespace: tag.uri, name: tag.local });
  }
}

function hasOwnAttributes({ attributes }: Tag): boolean {
  return attributes.some(({ uri }) => !ATTRIBUTES_OF_SOAP.has(uri));
}

function isOpen(content: ElementContent | undefined): content is ElementContent {
  return content !== undefined && content.end === undefined;
}
