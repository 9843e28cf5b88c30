import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ReadBody } from '../http/body';
import { replyCompressed } from '../http/compressed-reply';
import { parseMediaType } from '../http/media-type';
import { reply } from '../http/reply';
import { RequestError } from '../http/request-error';
import type { Content, Fields, Service } from '../service/call';
import { RequestCall, type EndpointAddress } from './call';
import type { Contract } from './contract';
import type { Envelope } from './envelope';
import { EnvelopeMemory } from './envelope-memory';
import { Fault, faultEnvelope, operationFault } from './fault';
import { soapServer } from './soap-server';
import { SOAP_11, SOAP_12, type SoapVersion } from './soap-version';
import { decodeXml } from './xml-body';

/** What a binding needs beside the contract and the service. */
export interface BindingOptions extends EndpointAddress {
  readonly readBody: ReadBody;
}

/** Answers a `POST` on the endpoint itself. */
export type SoapBinding = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** SOAP 1.1 and 1.2 over HTTP. The reply has the version of the request's envelope, whatever the content type says. */
export async function soapBinding(contract: Contract, service: Service, options: BindingOptions): Promise<SoapBinding> {
  const servers = new Map([
    [SOAP_11, await soapServer(contract, service, SOAP_11)],
    [SOAP_12, await soapServer(contract, service, SOAP_12)],
  ]);
  const messages = new EnvelopeMemory();

  return async (request, response) => {
    const mediaType = parseMediaType(request.headers['content-type']);
    // Until the envelope is read, the content type tells in which version to complain.
    let version: SoapVersion = mediaType?.essence === SOAP_12.mediaType ? SOAP_12 : SOAP_11;
    try {
      if (mediaType?.isXml !== true) throw unsupported(request.headers['content-type']);
      const body = await options.readBody(request, response);
      const envelope = messages.read(decodeXml(body, mediaType.charset));
      ({ version } = envelope);
      if (version === SOAP_11 && mediaType.essence !== SOAP_11.mediaType) throw unsupported(mediaType.essence);
      const operation = route(envelope, contract, request.headers.soapaction, mediaType.action);
      const [unknown] = envelope.mandatoryHeaders;
      if (unknown) throw new Fault('MustUnderstand', `SOAP header ${unknown.name} was not understood.`);

      const call = new SoapCall(request, envelope, { namespace: contract.namespace, name: operation }, options);
      const invoke = servers.get(version);
      if (invoke) await replyCompressed(request, response, version.contentType, await invoke(operation, call));
    } catch (error) {
      replyFault(response, faultOf(error), version);
    }
  };
}

function unsupported(contentType: string | undefined): Fault {
  const given =
    contentType === undefined
      ? 'The request has no content type.'
      : `The content type ${contentType} is not supported here.`;
  return new Fault('Client', `${given} Send SOAP 1.1 as ${SOAP_11.mediaType}, SOAP 1.2 as ${SOAP_12.mediaType}.`, 415);
}

/** Finds the operation as ASP.NET does: SOAP 1.1 by `SOAPAction` alone, SOAP 1.2 by action and then by the element. */
function route(
  { version, element }: Envelope,
  contract: Contract,
  soapAction: string | string[] | undefined,
  action: string | undefined,
): string {
  const byElement = element && contract.operation(element.namespace, element.name);
  if (version === SOAP_12) {
    const operation = (action === undefined ? undefined : contract.action(action)) ?? byElement;
    if (operation !== undefined) return operation;
    throw new Fault(
      'Client',
      action === undefined
        ? 'Unable to handle request without a valid action parameter. Please supply a valid soap action.'
        : `Unable to handle request. The action '${action}' was not recognized.`,
    );
  }
  const given = soapAction === undefined ? undefined : soapActionValue(String(soapAction));
  const operation = given === undefined ? byElement : contract.action(given);
  if (operation !== undefined) return operation;
  throw new Fault('Client', `Server did not recognize the value of HTTP Header SOAPAction: ${given ?? ''}.`);
}

function soapActionValue(header: string): string {
  const text = header.trim();
  const value = text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1).trim() : text;
  if (!value.includes('%')) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

class SoapCall extends RequestCall {
  readonly #envelope: Envelope;
  readonly #operation: { readonly namespace: string; readonly name: string };

  constructor(
    request: IncomingMessage,
    envelope: Envelope,
    operation: { readonly namespace: string; readonly name: string },
    address: EndpointAddress,
  ) {
    super(request, envelope.version.binding, address);
    this.#envelope = envelope;
    this.#operation = operation;
  }

  override content(): Content {
    const text = this.#envelope.payload(this.#operation);
    return text === undefined ? {} : { payload: { mediaType: 'application/xml', text } };
  }

  override parameters(): Fields {
    return {};
  }
}

function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (error instanceof RequestError) return new Fault('Client', error.message, error.status, { cause: error });
  return operationFault(error);
}

function replyFault(response: ServerResponse, fault: Fault, version: SoapVersion): void {
  const { contentType } = fault.code === 'VersionMismatch' ? SOAP_11 : version;
  reply(response, fault.status, contentType, faultEnvelope(fault, version));
}
