import { promisify } from 'node:util';
// The package's entry point loads its client and the security of that too, another 30 modules.
import { Server } from 'soap/lib/server';
import { WSDL } from 'soap/lib/wsdl';
import type { Contract, ServedOperation } from '../contract/contract';
import type { Endpoint } from '../call/incoming-call';
import type { Call, ParameterValues } from '../service/call';
import { textElement } from '../xml/characters';
import { SCHEMA_NAMESPACES, SoapVersion } from './soap-version';

/** Parsed with each message to find the port: the shortest URL saves 4 % of a HelloWorld. */
const ADDRESS = 'a:';
const REQUEST = Object.freeze({ url: ADDRESS, headers: Object.freeze({}), connection: Object.freeze({}) });

interface ParsedMessage {
  readonly Header: Carried;
  readonly Body: Readonly<Record<string, ParameterValues>>;
}

/** The header of a message, which node-soap hands on to the method untouched. */
interface Carried {
  /** The call whose operation has the result, or the result that a sample shows. */
  readonly source: { readonly call: Call } | { readonly result: string };
  /** What the operation threw: node-soap would write a fault of its own. */
  failure: { readonly error: unknown } | undefined;
}

/** node-soap's view of the contract, for messages that have been read. */
class ParsedMessageWsdl extends WSDL {
  override xmlToObject(message: ParsedMessage): ParsedMessage {
    return message;
  }
}

/**
 * Returns, by SOAP version, functions that answer calls with node-soap (https://github.com/vpulim/node-soap), as its documentation shows,
 * but with no listener attached: messages are handed to `processRequest`. Such a function calls an operation, or takes the result of a
 * sample, and resolves to the reply's envelope. It throws what the operation throws.
 *
 * node-soap finds port and method in the WSDL by the message's element, and writes the reply in the style that the WSDL says and the
 * version that its options say. `docs/architecture.md` says why messages are read and arguments converted before it, and faults written in fault.ts.
 */
export async function nodeSoap(
  { contract, operations }: Pick<Endpoint, 'contract' | 'operations'>,
  versions: readonly SoapVersion[],
) {
  const wsdl = new ParsedMessageWsdl(contract.wsdl(ADDRESS), '', {});
  await promisify((done: (error?: Error) => void) => {
    wsdl.onReady(done);
  })();
  // Beside its own namespace each envelope declares these, so that the reply is the original's to the byte.
  wsdl.xmlnsInEnvelope = Object.entries(SCHEMA_NAMESPACES)
    .map(([name, uri]) => `${name}="${uri}"`)
    .join(' ');
  const methods = Object.fromEntries(
    [...operations].map(([name, { run }]) => [name, serviceMethod(name, contract, run)]),
  );
  // node-soap takes the first port of the WSDL, as all have one address; that of SOAP 1.1 may be off.
  const services = { [contract.serviceName]: { WebHookSoap: methods, WebHookSoap12: methods } };

  return new Map(
    versions.map((version) => {
      const options = { ...wsdl.options, forceSoap12Headers: version === SoapVersion.soap12 };
      // A copy: parsing it anew would prolong each start.
      const ownWsdl = Object.assign(Object.create(ParsedMessageWsdl.prototype) as ParsedMessageWsdl, wsdl, { options });
      const server = new Server(null, '/', services, ownWsdl, { path: '/', services, suppressStack: true });
      // The URL above needs no base. Parsing one with each message takes 2 % of a HelloWorld.
      Object.assign(server, { baseUrl: undefined });
      return [version.binding, answerWith(server)];
    }),
  );
}

function answerWith(server: Server) {
  return async (name: string, parameters: ParameterValues, source: Carried['source']): Promise<string> => {
    const header: Carried = { source, failure: undefined };
    // A computed name in a literal takes several times as long.
    const body: Record<string, ParameterValues> = {};
    body[name] = parameters;
    const message: ParsedMessage = { Header: header, Body: body };
    // The declared type is for a message to be parsed, but `processRequest` only hands it to `xmlToObject`.
    const reply = await server.processRequest(message as unknown as string, REQUEST);
    if (header.failure !== undefined) throw header.failure.error;
    if (reply.statusCode !== 200) throw new Error(`node-soap did not answer the operation ${name}: ${reply.body}`);
    return reply.body;
  };
}

/** Returns the service method for an operation, which returns the reply's body as XML (`_xml`), node-soap's fastest way. */
function serviceMethod(name: string, { namespace }: Contract, run: ServedOperation['run']) {
  const writeResult = textElement(namespace, `${name}Response`, `${name}Result`);
  return async (parameters: ParameterValues, _callback: unknown, header: Carried) => {
    const { source } = header;
    try {
      return { _xml: writeResult('result' in source ? source.result : await run(source.call, parameters)) };
    } catch (error) {
      header.failure = { error };
      return { _xml: '' };
    }
  };
}
