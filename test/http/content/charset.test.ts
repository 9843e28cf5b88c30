import { encode } from 'iconv-lite';
import { Charset } from '../../../src/http/content/media-type';

const decode = (bytes: Buffer, charset: string) => Charset.named(charset).decode(bytes);

const TEXT = 'Grüße 日本 \u{1F600} \uFFFD.';

describe('a text with a real U+FFFD', () => {
  it.each(['utf-8', 'utf-16', 'utf-16le', 'utf-16be', 'gb18030'])('is decoded from %s', (charset) => {
    expect(decode(encode(TEXT, charset), charset)).toBe(TEXT);
    expect(decode(encode(TEXT, charset, { addBOM: true }), charset)).toBe(TEXT);
  });
});

describe('bytes that are not valid', () => {
  it.each([
    ['utf-8', 'c0af'],
    ['utf-16le', '00d83c00'],
    ['gb18030', '8431a43784'],
  ])('in %s are not decoded: %s', (charset, hex) => {
    expect(decode(Buffer.from(hex, 'hex'), charset)).toBeUndefined();
  });
});

it('ISO 8859-1 is Windows-1252, as in the Encoding standard, and big-endian UTF-16 needs no mark', () => {
  expect(decode(Buffer.from('80e9', 'hex'), 'iso-8859-1')).toBe('\u20ac\xe9');
  expect(decode(Buffer.from('003c20ac', 'hex'), 'utf-16')).toBe('<\u20ac');
});

it.each(['', 'base64', 'utf-7', 'utf-32', 'cp437', 'x'.repeat(8000), '__proto__'])('%s is not known', (charset) => {
  expect(Charset.named(charset).isKnown).toBe(false);
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
