import { Server, WSDL } from 'soap';
import type { Call, Operation, Service } from '../service/call';
import type { Contract } from './contract';
import { soapRequest } from './soap-request';
import { SCHEMA_NAMESPACES, SOAP_12, type SoapVersion } from './soap-version';
import { textElement } from './text-element';

/**
 * Calls an operation and resolves to the reply's envelope.
 *
 * @throws whatever the operation threw.
 */
export type SoapServer = (operation: string, call: Call) => Promise<string>;

/** One call's way through node-soap, which hands it to the service method as the request's connection. */
interface Exchange {
  readonly call: Call;
  failure: Error | undefined;
}

/**
 * Makes the node-soap server for one SOAP version. It is given the canonical request of an operation and never a caller's
 * text: what a caller sent was read before, strictly, and is in the call. So each canonical request is parsed once.
 */
export async function soapServer(contract: Contract, service: Service, version: SoapVersion): Promise<SoapServer> {
  const wsdl = await loadWsdl(contract, version);
  const requests = new Map(contract.operations.map(({ name }) => [name, soapRequest(name, contract, version, false)]));
  const parsed = new Map([...requests.values()].map((xml) => [xml, wsdl.xmlToObject(xml) as unknown]));
  wsdl.xmlToObject = (xml: string) => parsed.get(xml);

  const methods = Object.fromEntries(
    Object.entries(service).map(([name, operation]) => [name, soapMethod(name, operation, contract.namespace)]),
  );
  // node-soap serves the first port whose address fits, and all ports have the same.
  const services = { [contract.serviceName]: { WebHookSoap: methods } };
  const server = new Server(null, '/', services, wsdl, { path: '/', services, suppressStack: true });

  return async (operation, call) => {
    const exchange: Exchange = { call, failure: undefined };
    const { statusCode, body } = await server.processRequest(requests.get(operation) ?? '', { connection: exchange });
    if (exchange.failure !== undefined) throw exchange.failure;
    if (statusCode !== 200) throw new Error(`The operation ${operation} gave no SOAP reply.`);
    return body;
  };
}

async function loadWsdl(contract: Contract, version: SoapVersion): Promise<WSDL> {
  const wsdl = new WSDL(contract.wsdl('http://localhost/'), '', {
    forceSoap12Headers: version === SOAP_12,
  });
  await new Promise<void>((resolve, reject) => {
    wsdl.onReady((error?: Error | null) => {
      if (error) reject(error);
      else resolve();
    });
  });
  wsdl.xmlnsInEnvelope = Object.entries(SCHEMA_NAMESPACES)
    .map(([name, uri]) => `${name}="${uri}"`)
    .join(' ');
  return wsdl;
}

/** Gives node-soap the body of the reply as XML (`_xml`), as its writer works out the elements anew for each. */
function soapMethod(name: string, operation: Operation, namespace: string) {
  const writeResult = textElement(namespace, `${name}Response`, `${name}Result`);
  return async (_arguments: unknown, _callback: unknown, _headers: unknown, request: { connection: Exchange }) => {
    const exchange = request.connection;
    try {
      return { _xml: writeResult(await operation(exchange.call)) };
    } catch (error) {
      exchange.failure = error instanceof Error ? error : new Error('Unknown error.', { cause: error });
      return {};
    }
  };
}
