import { xmlText } from '../../src/xml/characters';
import { wireBytes } from '../../src/events/stored-event';

it.each(['', 'plain', '&<>"\'\r\n\t', 'é', '\u{1F600}', '\u2028', ']]>'])(
  'counts the bytes that %j takes as XML text',
  (text) => {
    expect(wireBytes(text)).toBe(Buffer.byteLength(xmlText(text)));
  },
);
