import { SaxesParser } from 'saxes';

/** The text between the tags of an XML document or fragment, read by a strict parser. */
export function parsedText(xml: string): string {
  const parser = new SaxesParser({ xmlns: true });
  let text = '';
  let depth = 0;
  parser.on('opentag', () => depth++);
  parser.on('closetag', () => depth--);
  parser.on('text', (part) => {
    if (depth > 0) text += part;
  });
  parser.write(xml).close();
  return text;
}
