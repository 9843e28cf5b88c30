// Reads generated SOAP messages with the reader of common XML and with saxes, and compares all that they find:
// node scripts/fuzz/envelopes.mjs MESSAGES SEED (1,000,000 and 1 by default; about two minutes). Needs `npm run build`.
// Ends with an error at the first difference, if a message brings another error than a fault, or if the reader of common XML left too
// many messages to saxes.
import { isDeepStrictEqual } from 'node:util';
import { EnvelopeBuilder } from '../../dist/soap/envelope-builder.js';
import { Fault } from '../../dist/soap/fault.js';
import { CommonXmlReader } from '../../dist/xml/common-xml-reader.js';
import { XmlError } from '../../dist/xml/handler.js';
import { readWithSaxes, readXml } from '../../dist/xml/xml-reader.js';
import { messagesOf } from './messages.mjs';

/** Of the messages without a mistake, the reader of common XML must read this share at least. */
const MIN_SHARE = 0.8;

const PARAMETERS = new Set(['a', 'b', 'i', 'after', 'limit']);
/** As if the header fields named RecordEvent, so that it says what that records; the body's element is of the namespace or not. */
const NAMED = { soap11: 'RecordEvent', soap12: 'RecordEvent' };

const CONTRACT = {
  bindings: ['soap11', 'soap12'],
  namespace: 'http://tempuri.org/',
  argumentNames: new Map(['RecordEvent', 'HelloWorld'].map((name) => [name, PARAMETERS])),
  recording: new Set(['RecordEvent']),
};

const [count = 1_000_000, seed = 1] = process.argv.slice(2).map(Number);
const nextMessage = messagesOf(seed);
const counts = { messages: 0, right: 0, read: 0 };

for (; counts.messages < count; counts.messages++) {
  const xml = nextMessage();
  const isRead = compare(xml);
  const payload = payloadOf(xml);
  if (payload === undefined) continue;
  counts.right++;
  if (isRead) counts.read++;
  compare(`<x>${payload}</x>`);
}

const share = counts.read / counts.right;
console.log(
  `${counts.messages.toLocaleString('en')} messages (seed ${seed}), ${counts.right.toLocaleString('en')} of them right, ` +
    `${(100 * share).toFixed(1)} % of those without saxes: no difference`,
);
if (share < MIN_SHARE) throw new Error('The reader of common XML gave up too often.');

/** Compares the tags, texts and places that both readers find; of the reader of common XML those before it gives up. False: it did. */
function compare(xml) {
  const common = foundBy((handler) => new CommonXmlReader(xml, handler).read());
  const saxes = foundBy((handler) => readWithSaxes(xml, handler));
  const isRead = common.result !== false;
  const reference = isRead ? saxes.found : saxes.found.slice(0, common.found.length);
  if (isDeepStrictEqual(common.found, reference)) return isRead;
  console.error(JSON.stringify({ xml, common: common.found, reference }, null, 2));
  throw new Error(`Message ${counts.messages} of seed ${seed}: the readers differ.`);
}

function foundBy(read) {
  const { found, handler } = recorder();
  try {
    return { found, result: read(handler) };
  } catch (error) {
    return { found: [...found, String(error)] };
  }
}

/** What RecordEvent records of a message; undefined if that is wrong. */
function payloadOf(xml) {
  try {
    const { content } = readXml(xml, () => new EnvelopeBuilder(xml, CONTRACT)).message(NAMED, []);
    return content.payload === undefined ? '' : JSON.parse(`{${content.payload.data}}`).data;
  } catch (error) {
    if (error instanceof Fault || error instanceof XmlError) return undefined;
    throw error;
  }
}

/** Notes what a reader tells, but for white space around the root, which not every reader tells of. */
function recorder() {
  const found = [];
  let depth = 0;
  const namespaces = ({ declared, outer }) => [...declared].concat(outer === undefined ? [] : namespaces(outer));
  const handler = {
    openElement({ name, local, uri, attributes, scope }, start, end) {
      depth++;
      const values = attributes.map((each) => [each.prefix, each.local, each.uri, each.value]);
      found.push([name, local, uri, values, namespaces(scope), start, end]);
    },
    addText(text) {
      if (depth > 0 || text.trim() !== '') found.push(text);
    },
    closeElement(contentEnd) {
      depth--;
      found.push(contentEnd);
    },
  };
  return { found, handler };
}
