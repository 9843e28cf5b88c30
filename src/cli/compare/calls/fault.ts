import { childrenOf, readXml, XmlError, type XmlElement } from '../../../xml/xml-tree';
import { canonicalText } from './canonical-text';

/** A SOAP fault, as far as its code and text go. */
export interface SoapFault {
  /** The local name of its code: `Client`, `Sender`. */
  readonly code: string;
  readonly text: string;
}

/** Reads a document; undefined: it is not XML. */
export function xmlOf(text: string): XmlElement | undefined {
  try {
    return readXml(text);
  } catch (error) {
    if (error instanceof XmlError) return undefined;
    throw error;
  }
}

/** The fault in an envelope of SOAP 1.1 or 1.2; undefined: there is none. */
export function faultIn(envelope: XmlElement | undefined): SoapFault | undefined {
  const fault = envelope && inside(envelope, 'Body', 'Fault');
  if (fault === undefined) return undefined;
  const code = inside(fault, 'faultcode') ?? inside(fault, 'Code', 'Value');
  const text = inside(fault, 'faultstring') ?? inside(fault, 'Reason', 'Text');
  return { code: textOf(code).replace(/^.*:/, '').trim(), text: textOf(text) };
}

/** {@link canonicalText} of an envelope without one header block, or without a header where it was the only block. */
export function canonicalWithoutHeader(envelope: XmlElement, block: string): string {
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
