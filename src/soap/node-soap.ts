import { Server } from 'soap/lib/server';
import { WSDL } from 'soap/lib/wsdl';
import type { Call, Operation, ParameterValues, Service } from '../service/call';
import type { Contract } from '../contract/contract';
import { textElement } from '../xml/text-element';
import { soapRequest } from './soap-request';
import { SCHEMA_NAMESPACES, SOAP_12, type SoapVersion } from './soap-version';

/** A call on its way through node-soap. */
interface PendingCall {
  /** Produces the operation's result. */
  run(): Promise<string>;
  /** Why it failed; undefined: it has not failed. */
  failure?: { readonly error: unknown };
}

/**
 * Answers the calls of one SOAP version with node-soap (https://github.com/vpulim/node-soap), as its documentation shows
 * it: a `WSDL`, a service object of methods by service, port and operation, and a `Server` without a listener, which is
 * given messages with `processRequest`.
 *
 * node-soap does everything from a request to the reply's envelope: it finds port and method in the WSDL, calls the method of
 * the service object, and writes the reply in the style and version that the WSDL says.
 *
 * We do what comes before and after: HTTP, since node-soap answers chunked and echoes the caller's content type; reading what
 * a caller sent, since node-soap ignores namespaces and `mustUnderstand` and accepts a DTD or a second root (it is given the
 * operation's canonical request, written by us, so a caller's text never reaches it); reading arguments, since node-soap trims
 * strings, rounds numbers and takes no notice of restrictions (they are read once, for all bindings, and handed to the
 * operation); and faults, since node-soap does not declare their prefixes.
 */
export class NodeSoap {
  readonly #server: Server;
  readonly #requests: ReadonlyMap<string, string>;
  readonly #service: Service;
  /** The call that the service method is about to be called for: node-soap calls it before `processRequest` returns. */
  #pending: PendingCall | undefined;

  private constructor(contract: Contract, service: Service, version: SoapVersion, wsdl: CanonicalWsdl) {
    this.#service = service;
    const operations = contract.operations.map(({ name }) => name);
    this.#requests = new Map(operations.map((name) => [name, soapRequest(name, contract, version, false)]));
    wsdl.keep(this.#requests.values());
    const methods = Object.fromEntries(operations.map((name) => [name, this.#method(name, contract.namespace)]));
    // node-soap takes the first port whose address fits, and all ports have the same address.
    const services = { [contract.serviceName]: { WebHookSoap: methods, WebHookSoap12: methods } };
    this.#server = new Server(null, '/', services, wsdl, { path: '/', services, suppressStack: true });
  }

  /** @throws node-soap cannot use the WSDL. */
  static async create(contract: Contract, service: Service, version: SoapVersion): Promise<NodeSoap> {
    return new NodeSoap(contract, service, version, await CanonicalWsdl.load(contract, version));
  }

  /**
   * Calls an operation of the service object and resolves to the reply's envelope.
   *
   * @param parameters - of the types that the contract says.
   * @throws whatever the operation throws.
   */
  answer(name: string, parameters: ParameterValues, call: Call): Promise<string> {
    const operation: Operation | undefined = this.#service[name];
    if (operation === undefined) throw new Error(`The service object has no operation ${name}.`);
    return this.#send(name, { run: () => operation.run(call, parameters) });
  }

  /** Writes the envelope with which an operation answers a result, without calling the operation. */
  sample(name: string, result: string): Promise<string> {
    return this.#send(name, { run: () => Promise.resolve(result) });
  }

  async #send(name: string, call: PendingCall): Promise<string> {
    this.#pending = call;
    const answering = this.#server.processRequest(this.#requests.get(name) ?? '');
    this.#pending = undefined;
    const { statusCode, body } = await answering;
    if (call.failure !== undefined) throw call.failure.error;
    if (statusCode !== 200) throw new Error(`node-soap did not answer the operation ${name}: ${body}`);
    return body;
  }

  /** Makes the service method for an operation. It returns the reply's body as XML (`_xml`), node-soap's fastest way. */
  #method(name: string, namespace: string) {
    const writeResult = textElement(namespace, `${name}Response`, `${name}Result`);
    return async (): Promise<{ readonly _xml: string }> => {
      const call = this.#pending;
      if (call === undefined) throw new Error(`node-soap called the operation ${name} without a request.`);
      try {
        return { _xml: writeResult(await call.run()) };
      } catch (error) {
        // Kept for #send: node-soap would write a fault of its own.
        call.failure = { error };
        return { _xml: '' };
      }
    };
  }
}

/** node-soap's view of the contract. It reads each operation's canonical request only once. */
class CanonicalWsdl extends WSDL {
  readonly #read = new Map<string, unknown>();

  static async load(contract: Contract, version: SoapVersion): Promise<CanonicalWsdl> {
    const wsdl = new CanonicalWsdl(contract.wsdl('http://localhost/'), '', {
      forceSoap12Headers: version === SOAP_12,
    });
    await new Promise<void>((resolve, reject) => {
      wsdl.onReady((error?: Error | null) => {
        if (error) reject(error);
        else resolve();
      });
    });
    // Beside its own namespace each envelope declares these, so that the reply is the original's to the byte.
    wsdl.xmlnsInEnvelope = Object.entries(SCHEMA_NAMESPACES)
      .map(([name, uri]) => `${name}="${uri}"`)
      .join(' ');
    return wsdl;
  }

  keep(messages: Iterable<string>): void {
    for (const message of messages) this.#read.set(message, super.xmlToObject(message));
  }

  override xmlToObject(xml: string): unknown {
    return this.#read.get(xml) ?? super.xmlToObject(xml);
  }
}
