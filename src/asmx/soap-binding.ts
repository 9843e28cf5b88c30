import type { IncomingMessage, ServerResponse } from 'node:http';
import { replyCompressed } from '../http/compressed-reply';
import { parseMediaType } from '../http/media-type';
import { reply } from '../http/reply';
import { RequestError, type Refusal } from '../http/request-error';
import { LARGE } from '../turns';
import type { Content, Fields, Service } from '../service/call';
import { refusalOf, type BindingOptions } from './binding';
import { RequestCall, type EndpointAddress } from './call';
import type { Contract } from './contract';
import { readLargeEnvelope, type Envelope } from './envelope';
import { EnvelopeMemory } from './envelope-memory';
import { Fault, faultEnvelope, operationFault } from './fault';
import { soapServer } from './soap-server';
import { SOAP_11, SOAP_12, type SoapVersion } from './soap-version';
import { decodeXml } from './xml-body';

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
    const started = performance.now();
    const mediaType = parseMediaType(request.headers['content-type']);
    // Until the envelope is read, the content type tells in which version to complain.
    let version: SoapVersion = mediaType?.essence === SOAP_12.mediaType ? SOAP_12 : SOAP_11;
    let operation: string | undefined;
    try {
      if (options.rate !== undefined) await options.rate(request);
      if (mediaType?.isXml !== true) throw unsupported(request.headers['content-type']);
      const body = await options.readBody(request, response);
      options.inFlight.enter();
      const turnEnds = body.length > LARGE ? await options.turns.take() : undefined;
      try {
        const xml = decodeXml(body, mediaType.charset);
        const envelope = turnEnds ? await readLargeEnvelope(xml) : messages.read(xml);
        ({ version } = envelope);
        if (version === SOAP_11 && mediaType.essence !== SOAP_11.mediaType) throw unsupported(mediaType.essence);
        operation = route(envelope, contract, request.headers.soapaction, mediaType.action);
        mustUnderstand(envelope);
        const { password, problem: passwordProblem } = envelope.security ?? {};
        options.access?.check(operation, request, { body, password, passwordProblem });

        const call = new SoapCall(request, envelope, { namespace: contract.namespace, name: operation }, options);
        const invoke = servers.get(version);
        if (invoke) await replyCompressed(request, response, version.contentType, await invoke(operation, call));
      } finally {
        turnEnds?.();
        options.inFlight.leave();
      }
      options.report(request, { binding: version.binding, operation, started });
    } catch (error) {
      const fault = faultOf(error);
      replyFault(response, fault, version);
      const refusal = fault.code === 'Server' ? {} : { refusal: refusalOf(fault) };
      options.report(request, { binding: version.binding, operation, started, error: fault, ...refusal });
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

/** SOAP 1.1, section 4.2.3; SOAP 1.2 part 1, section 5.2.3. */
function mustUnderstand({ mandatoryHeaders: [unknown], security }: Envelope): void {
  if (unknown) throw new Fault('MustUnderstand', `SOAP header ${unknown.name} was not understood.`);
  if (security?.mandatory && security.problem !== undefined) throw new Fault('Client', security.problem);
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

/** Refusals that have nothing to do with what the message says. */
const LATER: ReadonlySet<Refusal> = new Set(['busy', 'rate']);

function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (!(error instanceof RequestError)) return operationFault(error);
  // SOAP 1.1, section 4.4.1: Client says that the message must not be sent again as it is, Server that it may succeed later.
  const code = LATER.has(error.refusal) ? 'Server' : 'Client';
  return new Fault(code, error.message, error.status, { cause: error });
}

function replyFault(response: ServerResponse, fault: Fault, version: SoapVersion): void {
  const { contentType } = fault.code === 'VersionMismatch' ? SOAP_11 : version;
  const headers = fault.cause instanceof RequestError ? fault.cause.headers : undefined;
  reply(response, fault.status, contentType, faultEnvelope(fault, version), headers);
}
