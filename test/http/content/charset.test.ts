import { encode } from 'iconv-lite';
import { Charset } from '../../../src/http/content/charset';

const decode = (bytes: Buffer, charset: string) => Charset.named(charset).decode(bytes);

const TEXT = 'Grüße 日本 \u{1F600} \uFFFD.';

describe('a text with a real U+FFFD', () => {
  it.each(['utf-8', 'utf-16le', 'utf-16be', 'gb18030', "'utf-8'", '"UTF-8"', 'UTF8'])(
    'is decoded from %s',
    (charset) => {
      expect(decode(encode(TEXT, charset.replace(/['"]/g, '')), charset)).toBe(TEXT);
    },
  );

  it.each(['utf-8', 'utf-16', 'utf-16le', 'utf-16be', 'gb18030'])(
    'is decoded from %s after a byte order mark',
    (charset) => {
      expect(decode(encode(TEXT, charset, { addBOM: true }), charset)).toBe(TEXT);
    },
  );
});

describe('bytes that are not valid', () => {
  it.each([
    ['utf-8', 'c0af'],
    ["'utf-8'", 'c0af'],
    ['utf-16le', '3c'],
    ['utf-16le', '00d83c00'],
    ['gb18030', '8431a43784'],
    ['shift_jis', '8200'],
    ['us-ascii', 'e9'],
  ])('in %s are not decoded: %s', (charset, hex) => {
    expect(decode(Buffer.from(hex, 'hex'), charset)).toBeUndefined();
  });
});

it.each([
  "'utf-8'",
  'UTF_8',
  'csUTF8',
  'unicode-1-1-utf-8',
  'ISO-8859-15',
  "'iso-8859-1'",
  'iso_8859-2:1987',
  'koi8-u',
])('%s is known', (charset) => {
  expect(Charset.named(charset).isKnown).toBe(true);
});

it.each([
  ['utf16', '\u20ac', 'ac20'],
  ['UTF_16BE', '\u20ac', '20ac'],
  ['"utf16"', '\u20ac', 'feff20ac'],
  ['ucs2', '\u20ac', 'ac20'],
  ['windows1252', '\u20ac', '80'],
  ['ISO8859_15', '\u20ac', 'a4'],
  ['iso885915', '\u20ac', 'a4'],
  ['latin-1', '\xe9', 'e9'],
  ['ISO_8859-1:1987', '\x80', '80'],
])('%s is a character set with another hyphen', (charset, text, hex) => {
  expect(decode(Buffer.from(hex, 'hex'), charset)).toBe(text);
});

it.each([
  '',
  'base64',
  'hex',
  'utf-7',
  'utf-7-imap',
  'cesu-8',
  'utf-32',
  'cp437',
  'x'.repeat(8000),
  '__proto__',
  'constructor',
  '_internals',
])('%s is not known', (charset) => {
  expect(Charset.named(charset).isKnown).toBe(false);
});

describe('XML announces its character set', () => {
  const document = (encoding: string, space = '') =>
    `${space}<?xml version="1.0"${encoding && ` encoding='${encoding}'`}?><a/>`;
  const nameOf = (body: Buffer) => Charset.ofXml(body).name;

  it.each(['utf-16le', 'utf-16be', 'utf-32le', 'utf-32be'])('by the zero bytes of %s', (charset) => {
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
    for (const charset of ['utf-16', 'UTF-16LE', 'unicode', 'utf16', 'ucs-2'])
      expect(nameOf(Buffer.from(document(charset)))).toBe('utf-8');
  });
});
