import type { HttpRequest } from '../http/request';
import type { HttpResponse } from '../http/response';
import type { MediaType } from '../http/content/media-type';
import type { Refusal, RequestError } from '../http/errors';
import { inParts, LARGE_MESSAGE, type Steps } from '../util/promises';
import { shortened } from '../util/text';
import type { CallContent, ParameterValues, Service } from '../service/call';
import type { Contract, ContractOperation } from '../contract/contract';
import type { Endpoint } from '../call/endpoint';
import { IncomingCall } from '../call/incoming-call';
import { NO_VALUES } from '../contract/schema';
import type { ElementName } from '../xml/handler';
import { XmlReader } from '../xml/xml-reader';
import type { Envelope, MessageContract } from './envelope-builder';
import { decodeMessage, decodingSteps, envelopeSteps, readEnvelope } from './envelope-reader';
import { NO_ARGUMENTS } from './arguments';
import { Fault, FAULTS, faultEnvelope } from './fault';
import { NodeSoap } from './node-soap';
import { SoapVersion } from './soap-version';
import { SECURITY_CODES, type SecurityHeader } from './ws-security';

/** The longest message that is kept, in bytes. */
const MAX_KEPT = 1024;

/**
 * A message that was read. Clients that were generated from the WSDL send the same bytes each time: these need not be read again,
 * which takes 5 of the 32 µs of a HelloWorld. What the message says is checked each time.
 */
interface LastMessage {
  readonly mediaType: MediaType | undefined;
  readonly bytes: Buffer;
  readonly envelope: Envelope;
}

/** The SOAP bindings of one endpoint, which its SOAP calls share. */
export class SoapBindings {
  readonly reader = new XmlReader();
  /** The last message of each operation that the header fields name; under the empty name, of those where they name none. */
  readonly last = new Map<string, LastMessage>();

  private constructor(
    readonly messages: MessageContract,
    /** For each version that is on. */
    readonly servers: Readonly<Partial<Record<SoapVersion['binding'], NodeSoap>>>,
  ) {}

  /** Returns those of a service that are on, if any are. */
  static async create(contract: Contract, service: Service): Promise<SoapBindings | undefined> {
    const versions = SoapVersion.all.filter(({ binding }) => contract.protocols.bindings.has(binding));
    if (versions.length === 0) return undefined;
    const servers = await Promise.all(
      versions.map(async (version) => [version.binding, await NodeSoap.create(contract, service, version)] as const),
    );
    const messages = { versions, namespace: contract.namespace, parameters: parameterNames(contract, service) };
    return new SoapBindings(messages, Object.fromEntries(servers));
  }
}

/** Returns a function that names the parameters of an operation, and those that it refuses. */
function parameterNames({ operations }: Contract, service: Service) {
  const names = new Map(
    operations.map(({ name: operation, parameters }) => [
      operation,
      new Set([...parameters.map(({ name }) => name), ...(service[operation]?.refuses ?? [])]),
    ]),
  );
  return (operation: string) => names.get(operation);
}

const NAMES_SOAP_12 = /^application\/soap\+xml(?![^\s;])/i;

/** A `POST` to the endpoint itself. The reply has the SOAP version of the message, whatever the content type says. */
export class SoapCall extends IncomingCall {
  override readonly hasBody = true;
  override readonly hasEnvelope = true;
  readonly #bindings: SoapBindings;
  /** The version to answer in: that of the content type, if it is on, until the envelope has been read. */
  #version: SoapVersion;
  #envelope: Envelope | undefined;

  constructor(request: HttpRequest, response: HttpResponse, endpoint: Endpoint, bindings: SoapBindings) {
    super(request, response, endpoint);
    this.#bindings = bindings;
    const { versions } = bindings.messages;
    const named = NAMES_SOAP_12.test(request.headers['content-type'] ?? '') ? SoapVersion.soap12 : SoapVersion.soap11;
    this.#version = versions.includes(named) ? named : (versions[0] ?? named);
  }

  override get binding(): SoapVersion['binding'] {
    return this.#version.binding;
  }

  override route(): void {
    if (this.mediaType?.isXml !== true) throw this.#unsupported(this.headers['content-type']);
    this.operation = this.#namedInHeader();
  }

  override read(body: Buffer): void | Promise<void> {
    const { messages, reader, last } = this.#bindings;
    const { mediaType, operation = '' } = this;
    const before = last.get(operation);
    if (before !== undefined && before.mediaType === mediaType && before.bytes.equals(body)) {
      this.#accept(before.envelope);
      return;
    }
    const hint = (message: string): void => {
      this.hint('charset', message);
    };
    // Steps would take 4 % of the time of a small call.
    if (body.length > LARGE_MESSAGE) return inParts(body.length, this.#steps(body, hint));
    const envelope = readEnvelope(decodeMessage(body, mediaType?.charset, hint), messages, reader);
    // A WS-Security header has a secret in it.
    if (body.length <= MAX_KEPT && envelope.security === undefined)
      last.set(operation, { mediaType, bytes: Buffer.from(body), envelope });
    this.#accept(envelope);
  }

  *#steps(body: Buffer, hint: (message: string) => void): Steps<void> {
    const { messages, reader } = this.#bindings;
    const xml = yield* decodingSteps(body, this.mediaType?.charset, hint);
    yield;
    this.#accept(yield* envelopeSteps(xml, messages, reader));
  }

  #accept(envelope: Envelope): void {
    const { version, security } = envelope;
    const essence = this.mediaType?.essence;
    const isVersionOfHeader = version === this.#version;
    this.#version = version;
    this.#envelope = envelope;
    this.#giveHints(envelope);
    if (version === SoapVersion.soap11 && essence !== SoapVersion.soap11.mediaType) throw this.#unsupported(essence);
    const named = isVersionOfHeader ? this.operation : this.#namedInHeader();
    this.operation = undefined;
    this.operation = named ?? this.#namedInBody(envelope);
    requireUnderstood(envelope);
    this.password = security?.password;
    this.passwordProblem = security?.problem?.message;
  }

  /**
   * Finds the operation of a message whose header fields name none, as ASP.NET does. SOAP 1.1: by `SOAPAction` alone if the
   * request has one. Otherwise, and in SOAP 1.2: by the `action` parameter of the content type, then by the body's element.
   *
   * @throws {Fault} they name no operation of the contract.
   */
  #namedInBody({ element }: Envelope): string {
    const { contract } = this.endpoint;
    const { soapaction } = this.headers;
    if (this.#version === SoapVersion.soap11 && soapaction !== undefined)
      throw FAULTS.unknownSoapAction(urlDecoded(soapActionValue(String(soapaction))));
    const named = element && contract.operation(element.namespace, element.name);
    if (named !== undefined) return named;
    const action = this.mediaType?.action;
    throw action === undefined ? FAULTS.missingAction() : FAULTS.unknownAction(action);
  }

  /** The operation that the header fields name, if they name one of the contract. */
  #namedInHeader(): string | undefined {
    const { contract } = this.endpoint;
    const { soapaction } = this.headers;
    if (this.#version === SoapVersion.soap11 && soapaction !== undefined)
      return operationWithAction(contract, soapActionValue(String(soapaction)));
    const action = this.mediaType?.action;
    return action === undefined ? undefined : operationWithAction(contract, actionValue(action));
  }

  #unsupported(contentType: string | undefined): Fault {
    const { contract } = this.endpoint;
    const { messages } = this.#bindings;
    const webhooks = contract.protocols.bindings.has('httppost') ? `${this.endpointUrl()}/RecordEvent` : undefined;
    return FAULTS.contentType(contentType, messages.versions, webhooks);
  }

  #giveHints({ element, hasAddressing, ignored }: Envelope): void {
    const { contract } = this.endpoint;
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

  override invoke(name: string): Promise<string> {
    const server = this.#bindings.servers[this.binding];
    const operation = this.endpoint.contract.describe(name);
    if (server === undefined || operation === undefined) throw new Error('The message has not been read.');
    const values = operation.parameters.length === 0 ? NO_VALUES : this.#parameters(operation);
    return server.answer(name, values, { call: this });
  }

  #parameters(operation: ContractOperation): ParameterValues {
    const envelope = this.#envelope;
    const isNamed = envelope?.element?.name === operation.name;
    const { texts, otherNamespace, error } = isNamed ? envelope.arguments : NO_ARGUMENTS;
    if (error !== undefined) throw error;
    if (otherNamespace !== undefined) this.hint('parameter-namespace', this.#namespaceHint(otherNamespace));
    const { refuses } = this.endpoint.service[operation.name] ?? {};
    return operation.values(({ name }) => texts.get(name) ?? [], refuses);
  }

  #namespaceHint({ namespace, name }: ElementName): string {
    const found = namespace === '' ? 'no namespace' : `the namespace "${shortened(namespace)}"`;
    return (
      `A SOAP message for ${this.operation ?? ''} has the parameter ${name} in ${found}, so it is ignored. ` +
      `Let the client send it in "${this.endpoint.contract.namespace}", as one made from ?WSDL=extended does.`
    );
  }

  override reply(envelope: string): void | Promise<void> {
    return this.response.replyCompressed(this.#version.contentType, envelope);
  }

  override refuse(error: unknown, refusal: RequestError | undefined): void {
    const fault = faultOf(error, refusal, this.#envelope?.security);
    const version = fault.mismatch?.version ?? this.#version;
    // The media types of messages (W3C Linked Data Platform 1.0, section 7.1).
    const accepted = this.#bindings.messages.versions.map(({ mediaType }) => mediaType).join(', ');
    const headers = fault.status === 415 ? { ...fault.headers, 'Accept-Post': accepted } : fault.headers;
    this.response.reply(fault.status, version.contentType, faultEnvelope(fault, version), headers);
  }

  protected override *readContent(): Steps<CallContent> {
    if (this.#envelope === undefined) return {};
    const { of, content } = this.#envelope.payload(this.#operationElement);
    const text = yield* content.text(FAULTS.payloadGrowth);
    if (text === undefined) return {};
    return { payload: { mediaType: 'application/xml', text }, soap: { of, added: content.added } };
  }

  protected override forgetMessage(): void {
    this.#envelope = undefined;
  }

  get #operationElement(): ElementName {
    return { namespace: this.endpoint.contract.namespace, name: this.operation ?? '' };
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
 * Returns the fault that says why a call was refused or failed. SOAP 1.1, section 4.4.1: Client means that the message should
 * not be sent again as it is, Server that it may succeed later.
 */
function faultOf(error: unknown, refusal: RequestError | undefined, security: SecurityHeader | undefined): Fault {
  if (refusal === undefined) return FAULTS.failed(error);
  if (refusal instanceof Fault) return refusal;
  // The operation found something wrong with its input. Faults have status 500 (SOAP 1.1, section 6.2).
  if (refusal !== error && refusal.refusal === 'invalid') return FAULTS.invalidInput(refusal.message);
  const code = TEMPORARY.has(refusal.refusal) ? 'Server' : 'Client';
  // A WS-Security header yields no key, or the key in it is not valid.
  const keyCode = security && (security.problem?.code ?? SECURITY_CODES.failedAuthentication);
  return new Fault(code, refusal.message, { ...refusal, subcode: refusal.refusal === 'key' ? keyCode : undefined });
}

/**
 * Names the operation with an action, as it is written or URL-decoded: namespaces may have escapes themselves. Some senders write
 * it in UTF-8, which Node reads as ISO 8859-1.
 */
function operationWithAction(contract: Contract, action: string): string | undefined {
  const written = contract.action(action);
  if (written !== undefined) return written;
  const decoded = urlDecoded(action);
  const operation = contract.action(decoded);
  if (operation !== undefined || !/[\x80-\xff]/.test(decoded)) return operation;
  return contract.action(Buffer.from(decoded, 'latin1').toString('utf8'));
}

function soapActionValue(header: string): string {
  const text = header.trim();
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1).trim() : text;
}

function actionValue(parameter: string): string {
  return parameter.replace(/^'+|(?<!')'+$/g, '');
}

/** Decodes escapes as ASP.NET does: also those of a UTF-16 code unit (`%u00e9`). What is no text in UTF-8 stays as it is. */
function urlDecoded(value: string): string {
  if (!value.includes('%')) return value;
  return value.replace(/%u([\da-f]{4})|(?:%[\da-f]{2})+/gi, (escapes, unit: string | undefined) => {
    if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16));
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}
