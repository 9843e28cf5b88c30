import type { XmlHandler } from '../../src/xml/handler';
import { readXml } from '../../src/xml/xml-reader';

const IGNORING: XmlHandler = { openElement: () => undefined, closeElement: () => undefined, addText: () => undefined };

it.each(['<a>\ud800x</a>', '<a>\udc00</a>', '<a b="\ud800"/>', '<?b\r\n\ud800', '<?b \ud800?><a/>'])(
  'a document with half of a surrogate pair is refused by that name: %j',
  (xml) => {
    expect(() => readXml(xml, () => IGNORING)).toThrow(
      /^A half of a surrogate pair stands alone\. Line \d, position \d\.$/,
    );
  },
);
