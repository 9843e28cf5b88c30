import { charsetOfMark, charsetOfXml, decode, isKnownCharset } from '../../http/content/charset';
import { shortened } from '../../util/text';
import { FAULTS } from '../fault';

/**
 * Decodes the body of a SOAP message. The character set is that of the byte order mark, of `Content-Type`, or the one that the
 * XML announces itself, whichever comes first in this list, or else UTF-8 (RFC 7303, section 3).
 *
 * @throws {Fault} the character set is unknown, or the bytes are not valid in it.
 */
export function decodeMessage(body: Buffer, charset: string | undefined): string {
  const name = charsetOfMark(body) ?? charset ?? charsetOfXml(body) ?? 'utf-8';
  if (!isKnownCharset(name)) throw FAULTS.charset(name);
  const text = decode(body, name);
  if (text === undefined) throw FAULTS.unreadable(`The message is not valid ${shortened(name)}.`);
  return text;
}
