import { charsetOfMark, decode, isKnownCharset } from '../http/charset';
import { Fault, unreadable } from './fault';

const DECLARED_ENCODING = /^<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']/;

/**
 * Turns the body of an XML message into text. The character set is, in this order, that of a byte order mark, of
 * `Content-Type`, of the XML declaration, or UTF-8 (RFC 7303, section 3).
 *
 * @throws {Fault} the character set is unknown, or the bytes do not belong to it.
 */
export function decodeXml(body: Buffer, charset: string | undefined): string {
  const name = charsetOfMark(body) ?? charset ?? guessed(body);
  if (!isKnownCharset(name)) throw new Fault('Client', `The character set ${name} is not supported.`, 415);
  const text = decode(body, name);
  if (text === undefined) throw unreadable(`The message is not valid ${name}.`);
  return text;
}

function guessed(body: Buffer): string {
  if (body[0] === 0x3c && body[1] === 0) return 'utf-16le';
  if (body[0] === 0 && body[1] === 0x3c) return 'utf-16be';
  return DECLARED_ENCODING.exec(body.toString('latin1', 0, 200))?.[1]?.toLowerCase() ?? 'utf-8';
}
