import { childrenOf, qualifiedName, readXml, XmlError, type XmlElement } from '../../xml/xml-tree';

/** What a client sees of an answer. */
export interface SeenAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  /** The body, if it is XML. */
  readonly xml: XmlElement | undefined;
}

/** What the service answers first to a message that it cannot read; what follows are the words of the XML parser. */
const UNREADABLE = 'Server was unable to read request.';

const SAYS_WHY = 'the new service says in a fault why the message cannot be read';

/**
 * Says why the new service answers otherwise on purpose, if this is one of those cases, which are listed in
 * docs/migrating.md. Each is matched as narrowly as the original answers.
 */
export function intended(old: SeenAnswer, other: SeenAnswer): string | undefined {
  const before = faultIn(old.xml);
  const after = faultIn(other.xml);
  if (isUnreadable(after) && other.status === 400) {
    if (old.status === 400 && old.text === '' && sameType(old, other)) return SAYS_WHY;
    const blamesItself = old.status === 500 && before?.code === 'Receiver' && sameType(old, other);
    if (blamesItself && before.text.startsWith('Server was unable to process request.'))
      return 'the new service says that the caller made the mistake (SOAP 1.2 part 2, section 7.5.2.2)';
  }
  if (old.status !== other.status || !sameType(old, other)) return undefined;
  if (isUnreadable(before) && isUnreadable(after) && before.code === after.code)
    return 'only the words of the XML parser differ';
  if (old.xml === undefined || other.xml === undefined || after?.code !== 'MustUnderstand') return undefined;
  if (canonicalWithoutHeader(other.xml, 'NotUnderstood') === canonicalText(old.xml))
    return 'the new service names the header in a NotUnderstood block (SOAP 1.2 part 1, section 5.4.8)';
  return undefined;
}

function isUnreadable(fault: SoapFault | undefined): fault is SoapFault {
  return fault?.text.startsWith(UNREADABLE) === true && (fault.code === 'Client' || fault.code === 'Sender');
}

function sameType(old: SeenAnswer, other: SeenAnswer): boolean {
  return old.headers.get('content-type') === other.headers.get('content-type');
}

/** A SOAP fault, as far as its code and text go. */
export interface SoapFault {
  /** The local name of its code: `Client`, `Sender`. */
  readonly code: string;
  readonly text: string;
}

/** Reads a document, if it is XML. */
export function xmlOf(text: string): XmlElement | undefined {
  try {
    return readXml(text);
  } catch (error) {
    if (error instanceof XmlError) return undefined;
    throw error;
  }
}

/** The fault in an envelope of SOAP 1.1 or 1.2, if there is one. */
function faultIn(envelope: XmlElement | undefined): SoapFault | undefined {
  const fault = envelope && inside(envelope, 'Body', 'Fault');
  if (fault === undefined) return undefined;
  const code = inside(fault, 'faultcode') ?? inside(fault, 'Code', 'Value');
  const text = inside(fault, 'faultstring') ?? inside(fault, 'Reason', 'Text');
  return { code: textOf(code).replace(/^.*:/, '').trim(), text: textOf(text) };
}

/** {@link canonicalText} of an envelope without one header block, or without a header where it was the only block. */
function canonicalWithoutHeader(envelope: XmlElement, block: string): string {
  const content = envelope.content.flatMap((child) => {
    if (typeof child === 'string' || child.name !== 'Header') return [child];
    const rest = childrenOf(child).filter(({ name }) => name !== block);
    return rest.length === 0 ? [] : [{ ...child, content: rest }];
  });
  return canonicalText({ ...envelope, content });
}

function inside(element: XmlElement, ...path: readonly string[]): XmlElement | undefined {
  return path.reduce<XmlElement | undefined>(
    (parent, name) => parent && childrenOf(parent).find((child) => child.name === name),
    element,
  );
}

function textOf(element: XmlElement | undefined): string {
  return (element?.content ?? []).filter((child) => typeof child === 'string').join('');
}

/** Attributes and elements of SOAP whose value is a qualified name. */
const HOLD_NAMES = new Set(['faultcode', 'Value', 'qname']);

/**
 * Writes what a parser sees of a document: the same text for two documents that differ in prefixes, declarations, the order of
 * attributes, comments or white space between elements only.
 */
export function canonicalText(element: XmlElement): string {
  const attributes = element.attributes
    .map(({ uri, local, value }) => `{${uri}}${local}=${JSON.stringify(valueOf(local, value, element))}`)
    .sort();
  const hasChildren = element.content.some((child) => typeof child !== 'string');
  const content = element.content
    .filter((child) => typeof child !== 'string' || !hasChildren || child.trim() !== '')
    .map((child) =>
      typeof child === 'string' ? JSON.stringify(valueOf(element.name, child, element)) : canonicalText(child),
    );
  return `<{${element.namespace}}${[element.name, ...attributes].join(' ')}>${content.join('')}</>`;
}

function valueOf(holder: string, value: string, element: XmlElement): string {
  const found = HOLD_NAMES.has(holder) ? qualifiedName(value, element) : undefined;
  return found === undefined ? value : `{${found.namespace}}${found.name}`;
}
