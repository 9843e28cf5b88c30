import type { ServerResponse } from 'node:http';
import { reply, replyCompressed } from '../http/reply';
import type { HttpRequest } from '../http/request';
import type { Refusal, RequestError } from '../http/errors';
import { LARGE_MESSAGE } from '../util/promises';
import { shortened } from '../util/text';
import type { Content, ParameterValues, Service } from '../service/call';
import type { Contract, ContractOperation } from '../contract/contract';
import { IncomingCall, type EndpointOptions } from '../call/pipeline';
import { NO_VALUES, parameterValues } from '../contract/schema';
import type { ElementName, QualifiedName } from '../xml/handler';
import type { Envelope, MessageContract } from './envelope-builder';
import { decodeMessage, readEnvelope, readLargeEnvelope } from './envelope-reader';
import { NO_ARGUMENTS } from './arguments';
import { Fault, FAULTS, faultEnvelope } from './fault';
import { NodeSoap } from './node-soap';
import { Routing } from './routing';
import { SOAP_11, SOAP_12, SOAP_VERSIONS, type SoapVersion } from './soap-version';
import { SECURITY_CODES, type SecurityHeader } from './ws-security';

/** What the SOAP calls of one endpoint share. */
export interface SoapBindings {
  readonly contract: Contract;
  readonly messages: MessageContract;
  readonly routing: Routing;
  /** The versions that are offered; one at least. */
  readonly versions: readonly SoapVersion[];
  /** What a message that was sent with the media type of SOAP 1.2, or with any other, is answered in until it has been read. */
  readonly ofSoap12Type: SoapVersion;
  readonly ofOtherType: SoapVersion;
  /** For each version that is offered. */
  readonly servers: Readonly<Partial<Record<SoapVersion['binding'], NodeSoap>>>;
}

/** Makes the SOAP bindings of a service that are offered, if any are. */
export async function soapBindings(contract: Contract, service: Service): Promise<SoapBindings | undefined> {
  const versions = SOAP_VERSIONS.filter(({ binding }) => contract.offer.bindings.has(binding));
  const [first] = versions;
  if (first === undefined) return undefined;
  const servers = await Promise.all(
    versions.map(async (version) => [version.binding, await NodeSoap.create(contract, service, version)] as const),
  );
  return {
    contract,
    messages: { versions, namespace: contract.namespace, parameters: parameterNames(contract) },
    routing: new Routing(contract),
    versions,
    ofSoap12Type: versions.includes(SOAP_12) ? SOAP_12 : first,
    ofOtherType: first,
    servers: Object.fromEntries(servers),
  };
}

/** Makes the function that names the parameters of an operation. */
function parameterNames({ operations }: Contract) {
  const names = new Map(
    operations.map((operation) => [operation.name, new Set(operation.parameters.map(({ name }) => name))]),
  );
  return (operation: string) => names.get(operation);
}

/** A `POST` to the endpoint itself. The reply has the SOAP version of the message, whatever the content type says. */
export class SoapCall extends IncomingCall {
  override readonly hasBody = true;
  override readonly provesInMessage = true;
  readonly #bindings: SoapBindings;
  /** The version to answer in: that of the content type, until the envelope has been read. */
  #version: SoapVersion;
  #envelope: Envelope | undefined;

  constructor(request: HttpRequest, response: ServerResponse, endpoint: EndpointOptions, bindings: SoapBindings) {
    super(request, response, endpoint);
    this.#bindings = bindings;
    const { ofSoap12Type, ofOtherType } = bindings;
    this.#version = this.mediaType?.essence === SOAP_12.mediaType ? ofSoap12Type : ofOtherType;
  }

  override get binding(): SoapVersion['binding'] {
    return this.#version.binding;
  }

  override route(): void {
    const mediaType = this.mediaType;
    if (mediaType?.isXml !== true) throw FAULTS.contentType(this.headers['content-type'], this.#bindings.versions);
    this.operation = this.#bindings.routing.ofHeader(this.#version, this.headers.soapaction, mediaType.action);
  }

  override read(body: Buffer): void | Promise<void> {
    const xml = decodeMessage(body, this.mediaType?.charset, this.#hintCharset);
    const { messages } = this.#bindings;
    if (body.length <= LARGE_MESSAGE) this.#accept(readEnvelope(xml, messages));
    else
      return readLargeEnvelope(xml, messages).then((envelope) => {
        this.#accept(envelope);
      });
  }

  #accept(envelope: Envelope): void {
    const mediaType = this.mediaType;
    const { version, security } = envelope;
    this.#version = version;
    this.#envelope = envelope;
    this.#giveHints(envelope);
    if (version === SOAP_11 && mediaType?.essence !== SOAP_11.mediaType)
      throw FAULTS.contentType(mediaType?.essence, this.#bindings.versions);
    this.operation = undefined;
    this.operation = this.#bindings.routing.of(envelope, this.headers.soapaction, mediaType?.action);
    requireUnderstood(envelope);
    this.password = security?.password;
    this.passwordProblem = security?.problem?.message;
  }

  readonly #hintCharset = (message: string): void => {
    this.hint('charset', message);
  };

  #giveHints({ element, hasAddressing, ignored }: Envelope): void {
    const { contract } = this.#bindings;
    if (hasAddressing) this.hint('ws-addressing', ADDRESSING_HINT);
    if (ignored !== undefined)
      this.hint('soap-ignored', `A SOAP message has ${ignored}, which SOAP does not allow. It is ignored.`);
    if (element === undefined || element.namespace === contract.namespace) return;
    if (contract.operation(contract.namespace, element.name) === undefined) return;
    this.hint(
      'soap-namespace',
      `A SOAP message has the element ${element.name} of the namespace "${shortened(element.namespace)}", but the service has ` +
        `"${contract.namespace}". If clients of the service you replace use theirs, set SERVICE_NAMESPACE to it.`,
    );
  }

  override get isLarge(): boolean {
    return (this.#envelope?.payload(this.#operationElement).growth ?? 0) > LARGE_MESSAGE;
  }

  override invoke(): Promise<string> {
    const operation = this.#bindings.contract.describe(this.operation ?? '');
    if (operation === undefined || operation.parameters.length === 0) return this.#answer(NO_VALUES);
    return this.#answer(this.#parameters(operation));
  }

  #answer(parameters: ParameterValues): Promise<string> {
    const server = this.#bindings.servers[this.binding];
    if (server === undefined) throw new Error(`Messages of ${this.binding} are not read.`);
    return server.answer(this.operation ?? '', parameters, this);
  }

  #parameters(operation: ContractOperation): ParameterValues {
    if (this.#envelope === undefined) throw new Error('The message has not been read.');
    const isNamed = this.#envelope.element?.name === operation.name;
    const { texts, stranger, error } = isNamed ? this.#envelope.arguments : NO_ARGUMENTS;
    if (error !== undefined) throw error;
    if (stranger !== undefined) this.hint('parameter-namespace', this.#strangerHint(stranger));
    return parameterValues(operation.parameters, ({ name }) => texts.get(name) ?? []);
  }

  #strangerHint({ namespace, name }: ElementName): string {
    const found = namespace === '' ? 'no namespace' : `the namespace "${shortened(namespace)}"`;
    return (
      `A SOAP message for ${this.operation ?? ''} has the parameter ${name} in ${found}, so it is ignored. ` +
      `Let the client send it in "${this.#bindings.contract.namespace}", as one made from ?WSDL=extended does.`
    );
  }

  override reply(envelope: string): void | Promise<void> {
    return replyCompressed(this.request, this.response, this.#version.contentType, envelope);
  }

  override refuse(error: unknown, refusal: RequestError | undefined): void {
    const fault = faultOf(error, refusal, this.#envelope?.security);
    const version = fault.mismatch?.version ?? this.#version;
    const headers = fault.status === 415 ? { ...fault.headers, ...this.#acceptPost() } : fault.headers;
    reply(this.response, fault.status, version.contentType, faultEnvelope(fault, version), headers);
  }

  /** The media types of messages (W3C Linked Data Platform 1.0, section 7.1). */
  #acceptPost() {
    return { 'Accept-Post': this.#bindings.versions.map(({ mediaType }) => mediaType).join(', ') };
  }

  protected override readContent(): Content {
    const text = this.#envelope?.payload(this.#operationElement).text();
    return text === undefined ? {} : { payload: { mediaType: 'application/xml', text } };
  }

  protected override forgetMessage(): void {
    this.#envelope = undefined;
  }

  get #operationElement(): ElementName {
    return { namespace: this.#bindings.contract.namespace, name: this.operation ?? '' };
  }
}

const ADDRESSING_HINT =
  'A SOAP message has WS-Addressing headers. This service does not use them, and refuses a message that says they must be ' +
  'understood. Let the client send none: in WCF with basicHttpBinding, or with a message version without addressing.';

/** SOAP 1.1, section 4.2.3; SOAP 1.2 part 1, section 5.2.3. */
function requireUnderstood({ mandatoryHeaders: [unknown, ...others], security }: Envelope): void {
  if (unknown) throw FAULTS.notUnderstood(unknown, others);
  if (security?.mandatory && security.problem !== undefined) throw FAULTS.security(security.problem);
}

/** Refusals after which the same message may succeed later. */
const TEMPORARY: ReadonlySet<Refusal> = new Set(['busy', 'rate']);

/**
 * Makes the fault that says why a call was refused or failed. SOAP 1.1, section 4.4.1: Client means that the message should
 * not be sent again as it is, Server that it may succeed later.
 */
function faultOf(error: unknown, refusal: RequestError | undefined, security: SecurityHeader | undefined): Fault {
  if (refusal === undefined) return FAULTS.failed(error);
  if (refusal instanceof Fault) return refusal;
  // The operation found something wrong with its input. Faults have status 500 (SOAP 1.1, section 6.2).
  if (refusal !== error) return FAULTS.invalidInput(refusal.message);
  const code = TEMPORARY.has(refusal.refusal) ? 'Server' : 'Client';
  const subcode = refusal.refusal === 'key' && security !== undefined ? keyCode(security) : undefined;
  return new Fault(code, refusal.message, { ...refusal, subcode });
}

/** Why a caller with a WS-Security header has no valid key: the header yields none, or the key in it is not valid. */
function keyCode({ problem }: SecurityHeader): QualifiedName {
  return problem?.code ?? SECURITY_CODES.failedAuthentication;
}
