import * as fc from 'fast-check';
import { SaxesParser, type SaxesTagNS } from 'saxes';
import { payloadOf } from '../support/any-message';
import { NAMESPACE, SOAP_11_NAMESPACE } from '../support/bindings';

const message = (inside: string, onEnvelope = '', onOperation = '') =>
  `<s:Envelope xmlns:s="${SOAP_11_NAMESPACE}"${onEnvelope}><s:Body>` +
  `<t:RecordEvent xmlns:t="${NAMESPACE}"${onOperation}>${inside}</t:RecordEvent></s:Body></s:Envelope>`;

/** Names, attributes and values with every prefix replaced by its namespace, as a strict parser resolves it. */
function resolved(xml: string, depth = 0): string[] {
  const parser = new SaxesParser({ xmlns: true });
  const open: SaxesTagNS[] = [];
  const seen: string[] = [];
  const add = (part: string): void => {
    if (open.length > depth) seen.push(part);
  };
  const value = (text: string): string =>
    text.replace(/([^\s:]+):/g, (_all, prefix: string) => `{${String(parser.resolve(prefix))}}`);
  parser.on('opentag', (tag) => {
    open.push(tag);
    add(`<{${tag.uri}}${tag.local}`);
    for (const { uri, local, prefix, name, value: given } of Object.values(tag.attributes)) {
      if (prefix !== 'xmlns' && name !== 'xmlns') add(`@{${uri}}${local}=${value(given)}`);
    }
  });
  for (const event of ['text', 'cdata'] as const) {
    parser.on(event, (text) => {
      add(value(text));
    });
  }
  parser.on('closetag', () => {
    add('>');
    open.pop();
  });
  parser.write(xml).close();
  return seen;
}

const PREFIXES = [
  'p',
  'p.q',
  'q',
  'n-1',
  'a·b',
  'u‿v',
  'u⁀',
  'e\u0301',
  'x\u0300y',
  '\u{10000}z',
  'é',
  'Ω_',
  '日本',
  '',
];
const USED = PREFIXES.filter((prefix) => prefix !== '');

const declarations = fc
  .uniqueArray(fc.constantFrom(...PREFIXES), { maxLength: 8 })
  .map((prefixes) =>
    prefixes.map((prefix) => ` xmlns${prefix && `:${prefix}`}="urn:${String(PREFIXES.indexOf(prefix))}"`).join(''),
  );
const everything = USED.map((prefix) => ` xmlns:${prefix}="urn:outer:${String(USED.indexOf(prefix))}"`).join('');
const name = fc
  .tuple(fc.constantFrom(...PREFIXES), fc.constantFrom('a', 'b·', 'c-1'))
  .map(([prefix, local]) => (prefix === '' ? local : `${prefix}:${local}`));
const referenced = (text: string) => text.replace(/[:p]/g, (one) => `&#${String(one.charCodeAt(0))};`);
const qualified = fc.oneof(name, name.map(referenced));
const { element } = fc.letrec<{ element: string }>((tie) => ({
  element: fc
    .tuple(
      name,
      declarations,
      fc.option(fc.tuple(name, qualified), { nil: undefined }),
      fc.array(fc.oneof({ maxDepth: 3 }, qualified, tie('element')), { maxLength: 3 }),
    )
    .map(([tag, declared, attribute, content]) => {
      const attributes = attribute === undefined ? '' : ` ${attribute[0]}="${attribute[1]}"`;
      return `<${tag}${declared}${attributes}>${content.join('<!-- - -->')}</${tag}>`;
    }),
}));

describe('a payload', () => {
  it('says outside of its message what it says inside, whatever prefixes it uses and wherever they are declared', () => {
    fc.assert(
      fc.property(fc.array(element, { minLength: 1, maxLength: 3 }), declarations, (children, onOperation) => {
        const xml = message(children.join(' '), `${everything} xmlns="urn:default"`, onOperation);
        const payload = payloadOf(xml) ?? '';
        // The last part closes the operation's element, or the element around the fragment.
        const inside = resolved(xml, 3).filter((part) => part.trim() !== '');
        const outside = resolved(`<x>${payload}</x>`, 1).filter((part) => part.trim() !== '');
        expect(outside).toEqual(inside);
      }),
      { numRuns: 200 },
    );
  });
});
