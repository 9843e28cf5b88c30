import { encode } from 'iconv-lite';
import { Charset } from '../../../src/http/content/media-type';

const decode = (bytes: Buffer, charset: string) => Charset.named(charset).decode(bytes);

it.each(['utf-8', 'utf-16', 'utf-16le', 'utf-16be', 'gb18030'])('a real U+FFFD is decoded from %s', (charset) => {
  const text = 'Grüße 日本 \u{1F600} \uFFFD.';
  for (const addBOM of [false, true]) expect(decode(encode(text, charset, { addBOM }), charset)).toBe(text);
});

it.each([
  ['big5', '8862', '\u00ca\u0304'],
  ['euc-jp', 'b0a1', '亜'],
  ['iso-2022-jp', '1b2442467c4b5c1b2842', '日本'],
  ['gb18030', '9439fc36', '\u{1f600}'],
  ['iso-8859-1', '80e9', '\u20ac\xe9'],
  ['iso-8859-8-i', 'e0', 'א'],
  ['x-user-defined', '80', '\uf780'],
  // In big-endian order it needs no mark.
  ['utf-16', '003c20ac', '<\u20ac'],
  // Its senders send UTF-8.
  ['us-ascii', 'c3a9', 'é'],
  ['utf-8', 'c0af', undefined],
  ['utf-16le', '00d83c00', undefined],
  ['big5', '8041', undefined],
  ['euc-kr', 'c9a1', undefined],
  ['gb18030', '8431a43784', undefined],
  ['windows-874', 'db', undefined],
  ['windows-1253', 'd2', undefined],
])('as in the Encoding Standard, whose tables Node does not have, %s %s is %j', (charset, hex, text) => {
  expect(decode(Buffer.from(hex, 'hex'), charset)).toBe(text);
});

it.each(['', 'base64', 'utf-7', 'utf-32', 'cp437', 'x'.repeat(8000), '__proto__'])('%s is not known', (charset) => {
  expect(Charset.named(charset).isKnown).toBe(false);
});

it.each([
  ['utf-16le', '00d83c00', '\ufffd<'],
  ['utf-8', '80', '€'],
])('%s %s, which is not valid, may be read as %j', (charset, hex, text) => {
  expect(Charset.named(charset).decodeAnyway(Buffer.from(hex, 'hex'))).toBe(text);
});

describe('XML announces its character set', () => {
  const document = (encoding: string, space = '') =>
    `${space}<?xml version="1.0"${encoding && ` encoding='${encoding}'`}?><a/>`;
  const nameOf = (body: Buffer) => Charset.ofXml(body).name;

  it.each(['utf-16le', 'utf-16be'])('by the zero bytes of %s', (charset) => {
    expect(nameOf(encode(document(''), charset))).toBe(charset);
    expect(nameOf(encode(document('utf-8'), charset))).toBe(charset);
    expect(nameOf(encode('\n<a/>', charset))).toBe(charset);
    expect(nameOf(encode(document(''), charset, { addBOM: true }))).toBe(charset);
  });

  it('by its declaration', () => {
    expect(nameOf(Buffer.from(document('ISO-8859-1')))).toBe('iso-8859-1');
    expect(nameOf(Buffer.from(document('')))).toBe('utf-8');
    expect(nameOf(Buffer.from('<a encoding="iso-8859-1"/>'))).toBe('utf-8');
    expect(nameOf(Buffer.alloc(0))).toBe('utf-8');
    for (const charset of ['utf-16', 'UTF-16LE', 'unicode'])
      expect(nameOf(Buffer.from(document(charset)))).toBe('utf-8');
  });
});
