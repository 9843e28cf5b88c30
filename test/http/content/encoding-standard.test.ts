import { createHash } from 'node:crypto';
import { Charset } from '../../../src/http/content/media-type';

/**
 * The identifiers of the indexes of the Encoding Standard, as their files carry them (https://encoding.spec.whatwg.org/index-big5.txt):
 * the SHA-256 of the list of code points as Python writes it.
 */
const IDENTIFIERS = {
  big5: '8dfc771062e7be0810919082c2c06baa2236147909e0ecc235b1cb9ad782ac82',
  'euc-kr': '1d97134cbf187263585bc8f593ca4196654ed4c7a673f5672eaad4f5d9fdc4ba',
  gb18030: 'ff1c9a923b5d24f9761b3a2de2c0f07b395f9f6f36519508944de4f0415be81c',
  jis0208: 'cbaa91f3deb7d0841faf5c33041fc15a285da0e87e64ab802c4bf04b7c4da861',
  jis0212: '83bf90dd1c591a4355730d8c4567efc499d74da7490531019ef22a879991cfb7',
  ibm866: 'db6fe14a559d1601a7667338d83704773d5708dbc641e1ad3c5e21405770f05e',
  'iso-8859-2': '9569c67f22d0b57790e1c407c6eecf227e4562322dc296de43cdab7a0152ec73',
  'iso-8859-3': 'af8f1e12df79b768322b5e83613698cdc619438270a2fc359554331c805054a3',
  'iso-8859-4': '72f29c92344d351fe9e74a946e7e0468d76d542c6894ff82982cb652ebe0feb7',
  'iso-8859-5': 'fa9b1f3f5242df43e2e7bca80e9b6997c67944f20a4af91ee06bacc4e132d9c9',
  'iso-8859-6': '85bb7b5c2dc75975afebe5743935ba4ed5a09c1e9e34e9bfb2ff80293f5d8bbc',
  'iso-8859-7': 'f53d8aeba36314ef950eef02ffcf11dff540638ce27dfe7a86b6ccc6875afb24',
  'iso-8859-8': '7657a9ca3fa875990da960d3f812eea28dcd0ae6ed55a18d5394303c86f5484b',
  'iso-8859-10': '02c2b5590d8ccda9931008c471f6ee2c590b2c8fe5e6ccb3b08638115d778507',
  'iso-8859-13': '40736338e964ab520407cebcb01329f8d450abf6ce12bf88b74b655b60e43300',
  'iso-8859-14': '2c8651cfc08b1f35b17919ee5379f2fa006af3ec809f11b3b7f470785580542b',
  'iso-8859-15': 'a560aba47bccd7510a6ac77f671fe75dca3800f05cf6d676910c311a8f8ff079',
  'iso-8859-16': '55676320d2d1b6e6909f5b3d741a7cf0cefc84e920aa4474afc091459111c2e3',
  'koi8-r': 'c5497cd9071cb352c0e56b219154e539badf63de40b71578f09e2e11fe7d50ae',
  'koi8-u': '19a4da2c3f245118bbc8019326f45a07832949938ff903f03d62ac4da1f61f40',
  macintosh: 'f2c6a4f6406b3e86a50a5dba4d2b7dd48e2e33c0d82aefe764535c934ec11764',
  'windows-874': 'b416583ce125e38474381b31b401a98b19ecf2e57e0998e78a1e18b14894905d',
  'windows-1250': '0669455a7a1c70ba6003ea737991e8ee9adc455125c13cfe6705a361358de5fa',
  'windows-1251': '7592ef921679ba168b00a9e9afa3b4eebd67bf13dc7e84c4b6e120de856826e0',
  'windows-1252': 'e56d49d9176e9a412283cf29ac9bd613f5620462f2a080a84eceaf974cfa18b7',
  'windows-1253': '49fdc881a3488904dd1e8dfba9aef3258454249958b611bcded1d4c981ab5561',
  'windows-1254': 'e80a27adf377438be8ba5bd223875ea56d6a4d47f958cce1c957a2c446825caa',
  'windows-1255': 'cd7fb43c97eefa1651084d92d02af53ad668bd848528c18c3b1af5c06b499651',
  'windows-1256': '161bdb381f16408e8bebcc8f5310c4190af0e359de8d9bbaa3628ce2f0875509',
  'windows-1257': 'cc7256bdd10a5b8dc7fb6f994659f307dfcae60def9aa6c29d811f85e2842c47',
  'windows-1258': '198bacedfcf24390e219240a7b776b6cec34cff070330b08a601a69c67f7eb24',
  'x-mac-cyrillic': '73e8e7642c6fa9de29d42819b47fba55b58666fb1e339faeb4a89a0bd7c24d43',
} as const;

type Index = keyof typeof IDENTIFIERS;

/** The length of an index, its columns, and the bytes of a row and column; jis0208 has rows that only Shift_JIS reaches. */
type Layout = readonly [length: number, columns: number, bytes: (row: number, column: number) => number[]];

const CHINESE: Layout = [23_940, 190, (row, column) => [row + 0x81, column + (column < 0x3f ? 0x40 : 0x41)]];
const MULTI_BYTE: readonly (readonly [charset: string, index: Index, layout: Layout])[] = [
  ['big5', 'big5', [19_782, 157, (row, column) => [row + 0x81, column + (column < 0x3f ? 0x40 : 0x62)]]],
  ['euc-kr', 'euc-kr', [23_940, 190, (row, column) => [row + 0x81, column + 0x41]]],
  ['gb18030', 'gb18030', CHINESE],
  ['gbk', 'gb18030', CHINESE],
  [
    'shift_jis',
    'jis0208',
    [11_280, 188, (row, column) => [row + (row < 0x1f ? 0x81 : 0xc1), column + (column < 0x3f ? 0x40 : 0x41)]],
  ],
  ['euc-jp', 'jis0212', [8836, 94, (row, column) => [0x8f, row + 0xa1, column + 0xa1]]],
];
const SINGLE_BYTE: Layout = [128, 128, (_row, column) => [column + 0x80]];

const ALL = [
  ...MULTI_BYTE,
  ...(Object.keys(IDENTIFIERS) as Index[])
    .filter((index) => !MULTI_BYTE.some(([, other]) => other === index))
    .map((index) => [index, index, SINGLE_BYTE] as const),
];

it.each(ALL)('%s is decoded by the index %s of the Encoding Standard', (charset, index, [length, columns, bytes]) => {
  const decode = Charset.named(charset).decoder();
  const points = Array.from({ length }, (_, pointer) => {
    const text = decode?.(Buffer.from(bytes(Math.floor(pointer / columns), pointer % columns)));
    const point = text?.codePointAt(0);
    // No index has characters for private use in Shift_JIS, nor those that Big5 writes as two.
    const isOutside =
      [...(text ?? '')].length !== 1 || (charset === 'shift_jis' && pointer >= 8836 && pointer <= 10_715);
    return point === undefined || isOutside ? 'None' : String(point);
  });
  expect(
    createHash('sha256')
      .update(`[${points.join(', ')}]`)
      .digest('hex'),
  ).toBe(IDENTIFIERS[index]);
});

it.each([
  ['big5', '8862', '\u00ca\u0304'],
  ['euc-jp', 'b0a1', '亜'],
  ['iso-2022-jp', '1b2442467c4b5c1b2842', '日本'],
  ['gb18030', '9439fc36', '\u{1f600}'],
  ['iso-8859-8-i', 'e0', 'א'],
  ['x-user-defined', '80', '\uf780'],
])('%s has %s', (charset, hex, text) => {
  expect(Charset.named(charset).decode(Buffer.from(hex, 'hex'))).toBe(text);
});

it.each([
  ['big5', '8041'],
  ['euc-kr', 'c9a1'],
  ['gb18030', '8431a43784'],
  ['windows-874', 'db'],
  ['windows-1253', 'd2'],
])('%s has no %s', (charset, hex) => {
  expect(Charset.named(charset).decode(Buffer.from(hex, 'hex'))).toBeUndefined();
});
