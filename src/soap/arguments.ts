import { inParts, LARGE_MESSAGE } from '../util/promises';
import { ParameterError } from '../service/call';
import type { OperationInput } from '../contract/schema';
import type { Envelope } from './envelope/envelope';
import type { ElementName } from './envelope/qualified-name';
import { CommonXmlReader } from '../xml/common-xml-reader';
import { SaxesReader } from '../xml/saxes-reader';
import type { Tag, XmlHandler } from '../xml/tag';

const INSTANCE_NAMESPACE = 'http://www.w3.org/2001/XMLSchema-instance';

/** The arguments in a SOAP message. */
export interface Arguments {
  /** Their texts, in the order of the message, by the name of the parameter. */
  readonly texts: ReadonlyMap<string, readonly string[]>;
  /** The first element that has the name of a parameter but not its namespace, and so was ignored. */
  readonly stranger: ElementName | undefined;
}

/**
 * Reads the arguments from the operation's element in a message: from its child elements in the same namespace, in any order.
 * As in ASP.NET, other elements are ignored, and one with `xsi:nil` was not given. A message with another element has none.
 *
 * @param operation - the name of the operation's element.
 * @throws {ParameterError} a parameter has elements in it.
 */
export async function readArguments(
  envelope: Envelope,
  operation: ElementName,
  { parameters }: OperationInput,
): Promise<Arguments> {
  const { element } = envelope;
  const isNamed = element?.name === operation.name && element.namespace === operation.namespace;
  const content = isNamed ? envelope.payload(operation) : undefined;
  if (content === undefined) return NO_ARGUMENTS;
  const newCollector = (): ArgumentCollector =>
    new ArgumentCollector(operation.namespace, new Set(parameters.map(({ name }) => name)));
  const isLarge = content.length > LARGE_MESSAGE;
  const collector = newCollector();
  if (!isLarge && new CommonXmlReader(content, collector, undefined).read()) return collector;
  const all = newCollector();
  const reader = new SaxesReader({ fragment: true });
  reader.begin(content, all);
  const write = (part: string): void => {
    reader.write(part);
  };
  if (isLarge) await inParts(content, write);
  else write(content);
  reader.close();
  return all;
}

const NO_ARGUMENTS: Arguments = { texts: new Map(), stranger: undefined };

/** Collects the arguments from a fragment that is well-formed and declares every prefix it uses. */
class ArgumentCollector implements Arguments, XmlHandler {
  readonly texts = new Map<string, string[]>();
  stranger: ElementName | undefined;
  readonly #namespace: string;
  readonly #names: ReadonlySet<string>;
  #depth = 0;
  /** The parameter whose element is open, and its text so far. */
  #open: { readonly name: string; text: string } | undefined;

  constructor(namespace: string, names: ReadonlySet<string>) {
    this.#namespace = namespace;
    this.#names = names;
  }

  openElement(tag: Tag): void {
    if (this.#open !== undefined) throw ParameterError.mustBe(this.#open.name, 'text, without XML elements in it');
    if (this.#depth++ > 0 || !this.#names.has(tag.local)) return;
    if (tag.uri !== this.#namespace) this.stranger ??= { namespace: tag.uri, name: tag.local };
    else if (!isNil(tag)) this.#open = { name: tag.local, text: '' };
  }

  addText(text: string): void {
    if (this.#open !== undefined) this.#open.text += text;
  }

  closeElement(): void {
    this.#depth--;
    if (this.#open === undefined) return;
    const { name, text } = this.#open;
    const texts = this.texts.get(name);
    if (texts === undefined) this.texts.set(name, [text]);
    else texts.push(text);
    this.#open = undefined;
  }
}

/** XML Schema Part 1, section 2.6.2. */
function isNil({ attributes }: Tag): boolean {
  return attributes.some(
    ({ uri, local, value }) => uri === INSTANCE_NAMESPACE && local === 'nil' && ['true', '1'].includes(value.trim()),
  );
}
