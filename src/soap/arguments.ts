import type { ElementName, Tag } from '../xml/handler';

const INSTANCE_NAMESPACE = 'http://www.w3.org/2001/XMLSchema-instance';

/**
 * The arguments in the element of an operation: child elements of its namespace, in any order. As in ASP.NET, other elements are
 * ignored, and one with `xsi:nil` was not given.
 */
export class Arguments {
  /** Their texts, in the order of the message, by the name of the parameter. */
  readonly texts = new Map<string, string[]>();
  /** The first element that has the name of a parameter but not its namespace, and so was ignored. */
  otherNamespace: ElementName | undefined;
  /** The first parameter that has elements in it, and so cannot be used. */
  withElements: string | undefined;
  #open: { readonly name: string; text: string } | undefined;

  constructor(
    private readonly namespace: string,
    private readonly names: ReadonlySet<string>,
  ) {}

  openChild(tag: Tag): void {
    if (!this.names.has(tag.local)) return;
    if (tag.uri !== this.namespace) this.otherNamespace ??= { namespace: tag.uri, name: tag.local };
    else if (!isNil(tag)) this.#open = { name: tag.local, text: '' };
  }

  openInner(): void {
    this.withElements ??= this.#open?.name;
  }

  addText(text: string): void {
    if (this.#open !== undefined) this.#open.text += text;
  }

  closeChild(): void {
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
