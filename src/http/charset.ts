import { isUtf8 } from 'node:buffer';
import * as iconv from 'iconv-lite';

const BYTE_ORDER_MARKS: readonly (readonly [mark: Buffer, charset: string])[] = [
  [Buffer.from([0xef, 0xbb, 0xbf]), 'utf-8'],
  // Before UTF-16, the mark of which it begins with.
  [Buffer.from([0xff, 0xfe, 0, 0]), 'utf-32le'],
  [Buffer.from([0, 0, 0xfe, 0xff]), 'utf-32be'],
  [Buffer.from([0xff, 0xfe]), 'utf-16le'],
  [Buffer.from([0xfe, 0xff]), 'utf-16be'],
];

/** The character set that a byte order mark at the start of a body tells; undefined: there is none. */
export function charsetOfMark(body: Buffer): string | undefined {
  const first = body[0] ?? 0;
  if (first !== 0 && first < 0xef) return undefined;
  return BYTE_ORDER_MARKS.find(([mark]) => body.subarray(0, mark.length).equals(mark))?.[1];
}

/** Whether {@link decode} knows a character set, by any of its registered names. */
export function isKnownCharset(charset: string): boolean {
  return charset === 'utf-8' || iconv.encodingExists(charset);
}

/** Turns bytes into text, without a byte order mark. Undefined: the bytes are no text in this character set. */
export function decode(body: Buffer, charset: string): string | undefined {
  if (charset === 'utf-8' || charset === 'utf8') {
    if (!isUtf8(body)) return undefined;
    return body.toString('utf8', charsetOfMark(body) === 'utf-8' ? 3 : 0);
  }
  const unit = /^utf-?(16|32)/.exec(charset)?.[1];
  if (unit !== undefined && body.length % (Number(unit) / 8) !== 0) return undefined;
  const text = iconv.decode(body, charset);
  // A decoder puts U+FFFD where bytes are no text; only the Unicode encodings can also mean it.
  const lossless = text.isWellFormed() && (unit !== undefined || !text.includes('\uFFFD'));
  return lossless ? text : undefined;
}
