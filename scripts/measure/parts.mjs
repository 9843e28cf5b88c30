// Measures the parts of a call that docs/architecture.md names, each alone in this process: node scripts/measure/parts.mjs
// The figures are microseconds of processor time per repetition. Needs `npm run build`.
import { WSDL } from 'soap';
import { create } from 'xmlbuilder2';
import { Contract } from '../../dist/contract/contract.js';
import { ANY_MESSAGE, EnvelopeBuilder } from '../../dist/soap/envelope-builder.js';
import { decodeMessage, readEnvelope } from '../../dist/soap/envelope-reader.js';
import { FAULTS } from '../../dist/soap/fault.js';
import { SoapBindings } from '../../dist/soap/soap-call.js';
import { SoapVersion } from '../../dist/soap/soap-version.js';
import { textElement } from '../../dist/xml/characters.js';
import { readWithSaxes } from '../../dist/xml/xml-reader.js';
import { callOf } from '../bench/calls.mjs';
import { atOnce } from '../../dist/util/promises.js';

const REPETITIONS = 50_000;
const contract = await Contract.load('http://tempuri.org/');
const hello = { access: 'open', run: () => Promise.resolve('Hello World') };
const service = Object.fromEntries(contract.operations.map(({ name }) => [name, hello]));
const { messages, servers } = await SoapBindings.create(contract, service);
const wsdl = await new Promise((resolve, reject) => {
  const loading = new WSDL(contract.extendedWsdl('http://localhost/'), '', {});
  loading.onReady((error) => (error ? reject(error) : resolve(loading)));
});

const { body } = callOf('soap11', 'HelloWorld');
const given = new Map([
  ['after', '00000000000000000041'],
  ['limit', '100'],
]);
const withArguments = SoapVersion.soap11.request('GetEvents', contract, false, given);
const writeString = textElement('http://tempuri.org/', 'string');

await measure('node-soap: call the method, write the envelope', () =>
  servers.soap11.answer('HelloWorld', {}, { call: {} }),
);
await measure('node-soap: parse a request', () => wsdl.xmlToObject(body));
await measure('node-soap: parse a request with two arguments', () => wsdl.xmlToObject(withArguments));
await measure('two URLs, which node-soap makes for each call', () => [
  new URL('a:', 'http://localhost:8080').pathname,
  new URL('a:', 'http://localhost').pathname,
]);
for (const [what, message] of Object.entries(envelopesToRead())) {
  const bytes = Buffer.from(message);
  const operation = {
    namespace: contract.namespace,
    name: ['RecordEvent', 'GetEvents'].find((name) => message.includes(`<${name}`)) ?? 'HelloWorld',
  };
  await measure(`decode and read ${what}`, () =>
    contentOf(readEnvelope(decodeMessage(bytes, undefined), messages), operation),
  );
  await measure('    with saxes alone', () => contentOf(withSaxesAlone(bytes), operation));
}
await measure('write a string element with a new xmlbuilder2 document', () =>
  create({ version: '1.0', encoding: 'utf-8' }).ele('http://tempuri.org/', 'string').txt('Hello World').end(),
);
await measure('write a string element between tags written once', () => writeString('Hello World'));

/** Messages by what they are. */
function envelopesToRead() {
  const elements = (i) =>
    `<OrderId>${i}</OrderId><Customer id="c-${i}">Jane Doe</Customer><Amount currency="EUR">12.50</Amount>` +
    '<Placed>2026-11-22T03:12:49Z</Placed><Note>Please leave it at the door &amp; ring</Note>';
  const record = (payload) => callOf('soap11', 'RecordEvent', { payload }).body;
  const wss = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss';
  const token =
    `<w:UsernameToken><w:Username>user</w:Username><w:Password Type="${wss}-username-token-profile-1.0#PasswordText">` +
    'a-key-of-16-characters</w:Password></w:UsernameToken>';
  const security = `<w:Security soap:mustUnderstand="1" xmlns:w="${wss}-wssecurity-secext-1.0.xsd">${token}</w:Security>`;
  return {
    'GetEvents with two arguments': withArguments,
    'HelloWorld with a comment': body.replace('<soap:Body>', '<!-- 1 --><soap:Body>'),
    'RecordEvent with five elements': record(elements(1)),
    'RecordEvent with 10 KB': record(Array.from({ length: 50 }, (_, i) => elements(i)).join('')),
    'HelloWorld with a UsernameToken': body.replace('<soap:Body>', `<soap:Header>${security}</soap:Header><soap:Body>`),
  };
}

function withSaxesAlone(bytes) {
  const xml = decodeMessage(bytes, undefined);
  const builder = new EnvelopeBuilder(xml, ANY_MESSAGE);
  atOnce(readWithSaxes(xml, builder));
  return builder.envelope();
}

/** What the service takes of every envelope. */
function contentOf(envelope, operation) {
  const { content: payload } = envelope.payload(operation);
  return [atOnce(payload.text(FAULTS.payloadGrowth)), envelope.arguments, envelope.security?.password];
}

async function measure(what, repeat) {
  for (let i = 0; i < REPETITIONS / 2; i++) await repeat();
  const before = process.cpuUsage();
  for (let i = 0; i < REPETITIONS; i++) await repeat();
  const { user, system } = process.cpuUsage(before);
  console.log(`${((user + system) / REPETITIONS).toFixed(2).padStart(6)} µs  ${what}`);
}
