import type { MessageContract } from '../../src/soap/envelope-builder';
import { readMessage } from '../../src/soap/message';
import { envelope11, envelope12, NAMESPACE } from '../support/bindings';

const XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';

/** The parameters of Op, in the namespace of the service, by their names. */
const contractOf = (names: readonly string[]): MessageContract => ({
  bindings: ['soap11', 'soap12'],
  namespace: NAMESPACE,
  argumentNames: new Map([['Op', new Set(names)]]),
  recording: new Set(),
});

const argumentsOf = (message: string, names = ['a', 'b']) =>
  readMessage({ body: Buffer.from(message), contentType: undefined, contract: contractOf(names), named: {} }).arguments;

const textsOf = (inside: string): Record<string, readonly string[]> =>
  Object.fromEntries(argumentsOf(envelope11('Op', inside))?.texts ?? []);

describe('the arguments in a SOAP message are', () => {
  it.each<[string, string, Record<string, string[]>]>([
    ['the texts of its elements', '<a>1</a><b>2</b>', { a: ['1'], b: ['2'] }],
    ['in any order', '<b>2</b><a>1</a>', { a: ['1'], b: ['2'] }],
    ['several where they are repeated', '<a>1</a><b/><a>3</a>', { a: ['1', '3'], b: [''] }],
    ['empty where the element is', '<a/><b></b>', { a: [''], b: [''] }],
    ['with their white space', '<a> \n\t</a><b> x </b>', { a: [' \n\t'], b: [' x '] }],
    ['with a carriage return only as a reference', '<a>1\r\n2&#13;</a>', { a: ['1\n2\r'] }],
    ['with entities and CDATA', '<a>&lt;&amp;&#x1F600;<![CDATA[<&]]>]]&gt;</a>', { a: ['<&😀<&]]>'] }],
    ['without comments and processing instructions', '<a>1<!-- 2 -->3<?x 4?></a>', { a: ['13'] }],
    ['those with a prefix', `<p:a xmlns:p="${NAMESPACE}">1</p:a>`, { a: ['1'] }],
    ['not text around them', 'x<a>1</a>y', { a: ['1'] }],
    ['not elements of other names', '<c>1</c><A>2</A><x><a>3</a></x>', {}],
    ['not elements of another namespace or of none', '<a xmlns="urn:x">1</a><b xmlns="">2</b>', {}],
    ['not given with xsi:nil', `<a ${XSI} xsi:nil="true"/><b ${XSI} xsi:nil=" 1 "><c/></b>`, {}],
    ['given without it', `<a ${XSI} xsi:nil="false">1</a><b nil="true">2</b>`, { a: ['1'], b: ['2'] }],
    ['whatever xsi:type says', `<a ${XSI} xsi:type="xsd:int">x</a>`, { a: ['x'] }],
  ])('%s', (_what, inside, texts) => {
    expect(textsOf(inside)).toEqual(texts);
  });

  it('read also where JavaScript knows their name', () => {
    const names = ['__proto__', 'constructor', 'toString'];
    const found = argumentsOf(envelope11('Op', '<__proto__>1</__proto__><toString>2</toString>'), names);
    expect([...(found?.texts ?? [])]).toEqual([
      ['__proto__', ['1']],
      ['toString', ['2']],
    ]);
  });

  it('only those of the operation, not of the body or of another element', () => {
    const message = envelope12('Op', `<a>1</a>`);
    const inside = `<a xmlns="${NAMESPACE}">1</a>`;
    for (const other of [
      message.replace(/<Op.*<\/Op>/, inside),
      message.replace(/<Op.*<\/Op>/, ''),
      message.replaceAll('Op', 'Other'),
      message.replace(`<Op xmlns="${NAMESPACE}"`, '<Op xmlns="urn:x"').replace('<a>', `<a xmlns="${NAMESPACE}">`),
    ]) {
      expect(other).not.toBe(message);
      expect(argumentsOf(other)?.texts.size ?? 0).toBe(0);
    }
    expect(argumentsOf(message)?.texts.get('a')).toEqual(['1']);
  });

  it.each(['<a><c/></a>', '<a>1<a>2</a></a>', `<a>1<c xmlns="urn:x"/></a>`])(
    'refused with elements in them: %s',
    (inside) => {
      expect(argumentsOf(envelope11('Op', inside))?.withElements).toBe('a');
    },
  );

  it.each([
    ['<b/><a xmlns="urn:x"/><b xmlns="urn:y"/>', { namespace: 'urn:x', name: 'a' }],
    ['<b xmlns="">1</b>', { namespace: '', name: 'b' }],
    ['<a/><c xmlns=""/><x xmlns="urn:x"><a/></x>', undefined],
  ])('told from elements that only have their name: %s', (inside, stranger) => {
    expect(argumentsOf(envelope11('Op', inside))?.otherNamespace).toEqual(stranger);
  });
});
