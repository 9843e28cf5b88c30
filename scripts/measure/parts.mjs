// Measures the parts of a call that docs/architecture.md names, each alone in this process: node scripts/measure/parts.mjs
// The figures are microseconds of processor time per repetition. Needs `npm run build`.
import { WSDL } from 'soap';
import { create } from 'xmlbuilder2';
import { loadContract } from '../../dist/asmx/contract.js';
import { readArguments } from '../../dist/asmx/soap/arguments.js';
import { decodeMessage } from '../../dist/asmx/soap/envelope/decode-message.js';
import { soapBindings } from '../../dist/asmx/soap/soap-exchange.js';
import { soapRequest } from '../../dist/asmx/soap/soap-request.js';
import { SOAP_11 } from '../../dist/asmx/soap/soap-version.js';
import { textElement } from '../../dist/asmx/text-element.js';
import { callOf } from '../bench/calls.mjs';

const REPETITIONS = 50_000;
const contract = await loadContract('http://tempuri.org/');
const hello = { access: 'open', run: () => Promise.resolve('Hello World') };
const service = Object.fromEntries(contract.operations.map(({ name }) => [name, hello]));
const { envelopes, servers } = await soapBindings(contract, service);
const wsdl = await new Promise((resolve, reject) => {
  const loading = new WSDL(contract.extendedWsdl('http://localhost/'), '', {});
  loading.onReady((error) => (error ? reject(error) : resolve(loading)));
});

const { body } = callOf('soap11', 'HelloWorld');
const bytes = Buffer.from(body);
const getEvents = contract.describe('GetEvents');
const given = new Map([
  ['after', ['00000000000000000041']],
  ['limit', ['100']],
]);
const withArguments = envelopes.read(soapRequest('GetEvents', contract, SOAP_11, false, given));
const writeString = textElement('http://tempuri.org/', 'string');
let count = 0;

await measure('node-soap: call the method, write the envelope', () => servers.soap11.answer('HelloWorld', {}, {}));
await measure('node-soap: parse a request', () => wsdl.xmlToObject(body));
await measure('read two arguments', () =>
  readArguments(withArguments, { namespace: contract.namespace, name: 'GetEvents' }, getEvents),
);
await measure('node-soap: parse a request with two arguments, which is written for it', () =>
  wsdl.xmlToObject(soapRequest('GetEvents', contract, SOAP_11, false, given)),
);
await measure('two URLs, which node-soap makes for each call', () => [
  new URL('/', 'http://localhost').pathname,
  new URL('http://localhost/', 'http://localhost').pathname,
]);
await measure('read an envelope for the first time', () =>
  envelopes.read(body.replace('<soap:Body>', `<!-- ${String(++count)} --><soap:Body>`)),
);
await measure('decode an envelope and find it among those kept', () => envelopes.read(decodeMessage(bytes, 'utf-8')));
await measure('write a string element with a new xmlbuilder2 document', () =>
  create({ version: '1.0', encoding: 'utf-8' }).ele('http://tempuri.org/', 'string').txt('Hello World').end(),
);
await measure('write a string element between tags written once', () => writeString('Hello World'));

async function measure(what, repeat) {
  for (let i = 0; i < REPETITIONS / 2; i++) await repeat();
  const before = process.cpuUsage();
  for (let i = 0; i < REPETITIONS; i++) await repeat();
  const { user, system } = process.cpuUsage(before);
  console.log(`${((user + system) / REPETITIONS).toFixed(2).padStart(6)} µs  ${what}`);
}
