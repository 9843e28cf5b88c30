// Reads generated SOAP messages with the reader of common XML and with saxes, and compares all that they say:
// node scripts/fuzz/envelopes.mjs MESSAGES SEED (1,000,000 and 1 by default; about five minutes). Needs `npm run build`.
// Ends with an error at the first difference, or if the reader of common XML left too many messages to saxes.
import { isDeepStrictEqual } from 'node:util';
import { EnvelopeBuilder } from '../../dist/soap/envelope-builder.js';
import { Fault, FAULTS } from '../../dist/soap/fault.js';
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
  parameters: new Map(['RecordEvent', 'HelloWorld'].map((name) => [name, PARAMETERS])),
  recording: new Set(['RecordEvent']),
};

const [count = 1_000_000, seed = 1] = process.argv.slice(2).map(Number);
const nextMessage = messagesOf(seed);
const counts = { messages: 0, right: 0, read: 0 };

for (; counts.messages < count; counts.messages++) {
  const xml = nextMessage();
  const reference = saidBy(() => messageBy(withSaxes(xml), xml));
  compare(
    xml,
    'messages',
    saidBy(() => messageBy((builder) => readXml(xml, builder), xml)),
    reference,
  );
  const read = compareXml(xml);
  if (reference.fault !== undefined) continue;
  counts.right++;
  if (read) counts.read++;
  if (reference.data !== undefined) compareXml(`<x>${JSON.parse(`{${reference.data}}`).data}</x>`);
}

const share = counts.read / counts.right;
console.log(
  `${counts.messages.toLocaleString('en')} messages (seed ${seed}), ${counts.right.toLocaleString('en')} of them right, ` +
    `${(100 * share).toFixed(1)} % of those without saxes: no difference`,
);
if (share < MIN_SHARE) throw new Error('The reader of common XML gave up too often.');

/** Compares the tags, texts and places that both readers find, unless the reader of common XML gives up; false: it did. */
function compareXml(xml) {
  const common = foundBy((handler) => new CommonXmlReader(xml, handler).read());
  if (common.result === false) return false;
  compare(xml, 'XML', common.found, foundBy((handler) => readWithSaxes(xml, handler)).found);
  return true;
}

function foundBy(read) {
  const { found, handler } = recorder();
  try {
    return { found, result: read(handler) };
  } catch (error) {
    return { found: [...found, String(error)] };
  }
}

function compare(xml, what, common, reference) {
  if (isDeepStrictEqual(common, reference)) return;
  console.error(JSON.stringify({ xml, common, reference }, null, 2));
  throw new Error(`Message ${counts.messages} of seed ${seed}: the readers of ${what} differ.`);
}

function withSaxes(xml) {
  return (builderOf) => {
    const builder = builderOf();
    readWithSaxes(xml, builder);
    return builder;
  };
}

function messageBy(read, xml) {
  try {
    return read(() => new EnvelopeBuilder(xml, CONTRACT)).message(NAMED, []);
  } catch (error) {
    throw error instanceof XmlError ? FAULTS.unreadable(error.message) : error;
  }
}

/** All that an envelope says, or the fault. */
function saidBy(read) {
  try {
    const { binding, mandatoryHeaders, security, hasAddressing, element, content, arguments: given } = read();
    const { texts = [], otherNamespace, withElements } = given ?? {};
    return {
      binding,
      mandatoryHeaders,
      security: security && [security.mandatory, security.password, security.problem],
      hasAddressing,
      element,
      arguments: { texts: [...texts], otherNamespace, withElements },
      soapPart: content.soapPart,
      data: content.payload?.data,
    };
  } catch (error) {
    return faultOf(error);
  }
}

function faultOf(error) {
  if (!(error instanceof Fault)) throw error;
  const { code, status, message, details } = error;
  return { fault: { code, status, message, details } };
}

/** Notes what a reader tells, but for white space around the root, which not every reader tells of. */
function recorder() {
  const found = [];
  let depth = 0;
  const namespaces = ({ declared, outer }) => [...declared].concat(outer === undefined ? [] : namespaces(outer));
  const handler = {
    openElement({ name, local, uri, attributes, scope }, start, end) {
      depth++;
      found.push([name, local, uri, attributes.map((each) => ({ ...each })), namespaces(scope), start, end]);
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
