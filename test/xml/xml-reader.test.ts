import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { XmlHandler } from '../../src/xml/handler';
import { XmlReader } from '../../src/xml/xml-reader';

const IGNORING: XmlHandler = { openElement: () => undefined, closeElement: () => undefined, addText: () => undefined };

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('a document that saxes reads is held as a few texts, not as a million of one character', () => {
  it.each([
    { what: 'line breaks', xml: `<?x?><a>${'\r\n'.repeat(500_000)}</a>` },
    { what: 'brackets in a CDATA section', xml: `<?x?><a><![CDATA[x${']'.repeat(1_000_000)}]]></a>` },
  ])('$what', ({ xml }) => {
    const before = usedHeap();
    const steps = new XmlReader().steps(xml, () => IGNORING);
    let most = 0;
    for (let i = 1; steps.next().done !== true; i++) if (i % 64 === 0) most = Math.max(most, usedHeap() - before);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(6 * 1024 * 1024);
  });
});

it.each(['<a>\ud800x</a>', '<a>\udc00</a>', '<a b="\ud800"/>', '<?b\r\n\ud800', '<?b \ud800?><a/>'])(
  'a document with half of a surrogate pair is refused by that name: %j',
  (xml) => {
    expect(() => new XmlReader().read(xml, () => IGNORING)).toThrow(
      /^A half of a surrogate pair stands alone\. Line \d, position \d\.$/,
    );
  },
);

function usedHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
