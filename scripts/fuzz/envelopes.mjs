// Reads generated SOAP messages with the reader of common XML and with saxes, and compares all that they say:
// node scripts/fuzz/envelopes.mjs MESSAGES SEED (1,000,000 and 1 by default; about five minutes). Needs `npm run build`.
// Ends with an error at the first difference, or if the reader of common XML left too many messages to saxes.
import { isDeepStrictEqual } from 'node:util';
import { EnvelopeBuilder } from '../../dist/soap/envelope-builder.js';
import { readEnvelope } from '../../dist/soap/message.js';
import { Fault, FAULTS } from '../../dist/soap/fault.js';
import { CommonXmlReader } from '../../dist/xml/common-xml-reader.js';
import { readWithSaxes, XmlSyntaxError } from '../../dist/xml/xml-reader.js';
import { messagesOf } from './messages.mjs';

/** Of the messages without a mistake, the reader of common XML must read this share at least. */
const MIN_SHARE = 0.8;

const PARAMETERS = new Set(['a', 'b', 'i', 'after', 'limit']);
const OPERATIONS = ['RecordEvent', 'HelloWorld', 'Other'].map((name) => ({ namespace: 'http://tempuri.org/', name }));

const CONTRACT = {
  bindings: ['soap11', 'soap12'],
  namespace: OPERATIONS[0].namespace,
  parameters: new Map(['RecordEvent', 'HelloWorld'].map((name) => [name, PARAMETERS])),
};

const [count = 1_000_000, seed = 1] = process.argv.slice(2).map(Number);
const nextMessage = messagesOf(seed);
const counts = { messages: 0, right: 0, read: 0 };

for (; counts.messages < count; counts.messages++) {
  const xml = nextMessage();
  const reference = saidBy(() => withSaxes(xml));
  compare(
    xml,
    'messages',
    saidBy(() => readEnvelope(xml, CONTRACT)),
    reference,
  );
  const read = compareXml(xml);
  if (reference.fault !== undefined) continue;
  counts.right++;
  if (read) counts.read++;
  for (const payload of new Set(reference.contents.map((content) => content.payload))) {
    if (payload !== undefined) compareXml(`<x>${payload}</x>`);
  }
}

const share = counts.read / counts.right;
console.log(
  `${counts.messages.toLocaleString('en')} messages (seed ${seed}), ${counts.right.toLocaleString('en')} of them right, ` +
    `${(100 * share).toFixed(1)} % of those without saxes: no difference`,
);
if (share < MIN_SHARE) throw new Error('The reader of common XML gave up too often.');

/** Compares the tags, texts and places that both readers find, unless the reader of common XML gives up; false: it did. */
function compareXml(xml) {
  const common = recorder();
  if (!new CommonXmlReader(xml, common.handler).read()) return false;
  const reference = recorder();
  try {
    readWithSaxes(xml, { ...reference.handler, addDoctype });
  } catch (error) {
    reference.found.push(String(error));
  }
  compare(xml, 'XML', common.found, reference.found);
  return true;
}

function addDoctype() {
  throw new Error('A document type declaration.');
}

function compare(xml, what, common, reference) {
  if (isDeepStrictEqual(common, reference)) return;
  console.error(JSON.stringify({ xml, common, reference }, null, 2));
  throw new Error(`Message ${counts.messages} of seed ${seed}: the readers of ${what} differ.`);
}

function withSaxes(xml) {
  const builder = new EnvelopeBuilder(xml, CONTRACT);
  try {
    readWithSaxes(xml, builder);
  } catch (error) {
    throw error instanceof XmlSyntaxError ? FAULTS.unreadable(error.message) : error;
  }
  return builder.envelope();
}

/** All that an envelope says, or the fault. */
function saidBy(read) {
  try {
    const envelope = read();
    const { version, mandatoryHeaders, security, hasAddressing, element } = envelope;
    const { texts, otherNamespace, withElements } = envelope.arguments;
    const operations = element === undefined ? OPERATIONS : [...OPERATIONS, element];
    return {
      binding: version.binding,
      mandatoryHeaders,
      security: security && [security.mandatory, security.password, security.problem],
      hasAddressing,
      element,
      arguments: { texts: [...texts], otherNamespace, withElements },
      contents: operations.map((operation) => ({
        of: envelope.payload(operation).of,
        payload: orFault(() => envelope.payload(operation).content.text(FAULTS.payloadGrowth)),
        added: envelope.payload(operation).content.added,
      })),
    };
  } catch (error) {
    return faultOf(error);
  }
}

function orFault(read) {
  try {
    return read();
  } catch (error) {
    return faultOf(error).fault.message;
  }
}

function faultOf(error) {
  if (!(error instanceof Fault)) throw error;
  const { code, status, message, subcode, notUnderstood } = error;
  return { fault: { code, status, message, subcode, notUnderstood } };
}

/** Notes what a reader tells, but for white space around the root, which not every reader tells of. */
function recorder() {
  const found = [];
  let depth = 0;
  const namespaces = ({ declared, outer }) => [...declared].concat(outer === undefined ? [] : namespaces(outer));
  const handler = {
    openElement({ name, prefix, local, uri, attributes, scope }, start, end) {
      depth++;
      found.push([name, prefix, local, uri, attributes.map((each) => ({ ...each })), namespaces(scope), start, end]);
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
