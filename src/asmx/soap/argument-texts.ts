import { SaxesParser, type SaxesTagNS } from 'saxes';
import type { OperationInput } from '../parameters/schema';
import { ParameterError } from '../../service/call';
import type { ArgumentTexts } from './soap-request';

const INSTANCE_NAMESPACE = 'http://www.w3.org/2001/XMLSchema-instance';

/**
 * Reads the texts of the arguments from the content of an operation's element: those of the child elements in the operation's
 * namespace, in any order. As in ASP.NET, other elements are ignored, and one with `xsi:nil` was not given.
 *
 * @param content - a fragment that is well-formed and declares every prefix it uses.
 * @throws {ParameterError} a parameter has elements in it.
 */
export function argumentTexts(content: string, namespace: string, { parameters }: OperationInput): ArgumentTexts {
  const names = new Set(parameters.map(({ name }) => name));
  const texts = new Map<string, string[]>();
  const parser = new SaxesParser({ xmlns: true, fragment: true });
  let depth = 0;
  let open: { readonly name: string; text: string } | undefined;
  const append = (part: string): void => {
    if (open !== undefined) open.text += part;
  };
  parser.on('opentag', (tag) => {
    if (open !== undefined) throw ParameterError.mustBe(open.name, 'text, without XML elements in it');
    if (depth === 0 && tag.uri === namespace && names.has(tag.local) && !isNil(tag))
      open = { name: tag.local, text: '' };
    depth++;
  });
  parser.on('closetag', () => {
    depth--;
    if (open === undefined) return;
    const { name, text } = open;
    const given = texts.get(name);
    if (given === undefined) texts.set(name, [text]);
    else given.push(text);
    open = undefined;
  });
  parser.on('text', append);
  parser.on('cdata', append);
  parser.write(content).close();
  return texts;
}

/** XML Schema Part 1, section 2.6.2. */
function isNil({ attributes }: SaxesTagNS): boolean {
  return Object.values(attributes).some(
    ({ uri, local, value }) => uri === INSTANCE_NAMESPACE && local === 'nil' && /^\s*(?:true|1)\s*$/.test(value),
  );
}
