import { join } from 'node:path';
import { decoded, type HttpRequest } from '../http/request';
import type { HttpResponse } from '../http/response';
import type { MediaType } from '../http/content/media-type';
import { RequestError } from '../http/errors';
import { shortened } from '../util/text';
import { CallError, type CallContent, type ParameterValues } from '../service/call';
import type { Contract, ServedOperation } from '../contract/contract';
import { IncomingCall, type Endpoint } from '../call/incoming-call';
import type { ElementName } from '../xml/handler';
import type { MessageContract, NamedOperations, SoapMessage } from './envelope-builder';
import { Fault, FAULTS, faultEnvelope } from './fault';
import { readMessage } from './message';
import { nodeSoap } from './node-soap';
import { SoapVersion } from './soap-version';
import { SECURITY_CODES, type SecurityHeader } from './ws-security';

/** The longest message that is kept as a {@link LastMessage}. */
const MAX_REPEATED_BYTES = 1024;

/** The last message: generated clients repeat its bytes, which need not be read again (5 of the 32 µs of a HelloWorld). */
interface LastMessage {
  readonly mediaType: MediaType | undefined;
  readonly bytes: Buffer;
  readonly message: SoapMessage;
}

type SoapShared = NonNullable<Awaited<ReturnType<typeof SoapCall.shared>>>;

const MESSAGE_READER = { module: join(__dirname, 'message'), name: 'readMessage', read: readMessage };

const NAMES_SOAP_12 = /^application\/soap\+xml(?![^\s;])/i;

/** A `POST` to the endpoint itself. The reply has the SOAP version of the message, whatever the content type says. */
export class SoapCall extends IncomingCall {
  readonly #shared: SoapShared;
  /** The version to answer in: that of the content type, if it is on, until the envelope has been read. */
  #version: SoapVersion;
  #named: NamedOperations = {};
  #message: SoapMessage | undefined;

  constructor(request: HttpRequest, response: HttpResponse, endpoint: Endpoint, shared: SoapShared) {
    super(request, response, endpoint);
    this.#shared = shared;
    const { bindings: on } = shared.messageContract;
    const claimed = NAMES_SOAP_12.test(request.headers['content-type'] ?? '') ? 'soap12' : 'soap11';
    this.#version = SoapVersion[on.includes(claimed) ? claimed : (on[0] ?? claimed)];
  }

  /** Returns what the SOAP calls of an endpoint share; undefined if both SOAP bindings are off. */
  static async shared(endpoint: Pick<Endpoint, 'contract' | 'operations'>) {
    const { protocols, namespace } = endpoint.contract;
    const versions = SoapVersion.all.filter(({ binding }) => protocols.bindings.has(binding));
    if (versions.length === 0) return undefined;
    const operations = [...endpoint.operations.values()];
    const messageContract: MessageContract = {
      bindings: versions.map(({ binding }) => binding),
      namespace,
      argumentNames: new Map(operations.map(({ name, asked }) => [name, new Set(asked.map((one) => one.name))])),
      recording: new Set(operations.filter(({ access }) => access === 'record').map(({ name }) => name)),
    };
    return {
      messageContract,
      /** Answers calls over each version that is on. */
      answers: await nodeSoap(endpoint, versions),
      /** By the operation in the header fields; under '' if they name none. */
      lastMessages: new Map<string, LastMessage>(),
    };
  }

  override get binding(): SoapVersion['binding'] {
    return this.#version.binding;
  }

  /**
   * Finds the operation as ASP.NET does. SOAP 1.1: by `SOAPAction` alone if the request has one. Otherwise, and in SOAP 1.2: by
   * the `action` parameter of the content type, then by the body's element.
   */
  override route(): void {
    const { contract } = this.endpoint;
    const { soapaction, 'content-type': contentType } = this.headers;
    if (this.mediaType?.isXml !== true) {
      const webhooks = contract.protocols.bindings.has('httppost') ? `${this.endpointUrl()}/RecordEvent` : undefined;
      throw FAULTS.contentType(contentType, this.#shared.messageContract.bindings, webhooks);
    }
    const { action } = this.mediaType;
    const soap12 = action === undefined ? undefined : operationWithAction(contract, actionValue(action));
    const soap11 =
      soapaction === undefined ? soap12 : operationWithAction(contract, soapActionValue(String(soapaction)));
    this.#named = { soap11, soap12 };
    this.operation = this.endpoint.operations.get(this.#named[this.binding] ?? '');
  }

  override read(body: Buffer): void | Promise<void> {
    const { messageContract: contract, lastMessages } = this.#shared;
    const { mediaType } = this;
    const key = this.operation?.name ?? '';
    const last = lastMessages.get(key);
    // The same object means the same Content-Type (`Endpoint.mediaType`), which names the operation if the envelope is SOAP 1.2 after all;
    // `#accept` refuses one of SOAP 1.1 with a Content-Type of SOAP 1.2.
    if (last !== undefined && last.mediaType === mediaType && last.bytes.equals(body))
      return this.#accept(last.message);
    const contentType = this.headers['content-type'];
    const message = this.readWith(MESSAGE_READER, { body, contentType, contract, named: this.#named });
    if (message instanceof Promise) return message.then((read) => this.#accept(read));
    // A WS-Security header has a secret in it.
    if (body.length <= MAX_REPEATED_BYTES && message.security === undefined)
      lastMessages.set(key, { mediaType, bytes: body, message });
    this.#accept(message);
  }

  #accept(message: SoapMessage): void {
    const version = SoapVersion[message.binding];
    const { essence = '' } = this.mediaType ?? {};
    this.#version = version;
    this.#message = message;
    this.#giveHints(message);
    if (version === SoapVersion.soap11 && essence !== SoapVersion.soap11.mediaType)
      throw FAULTS.contentTypeOfSoap11(essence);
    // Cleared first: if the message names no operation, the refusal must not report the header's.
    this.operation = undefined;
    this.operation = this.endpoint.operations.get(this.#named[message.binding] ?? '') ?? this.#operationInBody(message);
    const { security, mandatoryHeaders } = message;
    // SOAP 1.1, section 4.2.3; SOAP 1.2 part 1, section 5.2.3.
    if (mandatoryHeaders.length > 0) throw FAULTS.notUnderstood(mandatoryHeaders);
    if (security?.mandatory && security.problem !== undefined) throw FAULTS.security(security.problem);
    if (security !== undefined) this.caller.addPassword(security);
  }

  /** The operation of a message whose header fields name none. @throws {Fault} its element names none either, or may not. */
  #operationInBody({ element }: SoapMessage): ServedOperation {
    const { contract, operations } = this.endpoint;
    const { soapaction } = this.headers;
    if (this.#version === SoapVersion.soap11 && soapaction !== undefined)
      throw FAULTS.unknownSoapAction(urlDecoded(soapActionValue(String(soapaction))));
    const found = element?.namespace === contract.namespace ? operations.get(element.name) : undefined;
    if (found !== undefined) return found;
    const action = this.mediaType?.action;
    throw action === undefined ? FAULTS.missingAction() : FAULTS.unknownAction(action);
  }

  #giveHints({ element, hasAddressing, hints }: SoapMessage): void {
    const { contract, operations } = this.endpoint;
    for (const hint of hints) this.hint('charset', hint);
    if (hasAddressing)
      this.hint(
        'ws-addressing',
        'A SOAP message has WS-Addressing headers. This service does not use them, and refuses a message that says they must be ' +
          'understood. Let the client send none: in WCF with basicHttpBinding, or with a message version without addressing.',
      );
    if (element === undefined || element.namespace === contract.namespace || !operations.has(element.name)) return;
    this.hint(
      'soap-namespace',
      `A SOAP message has the element ${element.name} of the namespace "${shortened(element.namespace)}", but the service has ` +
        `"${contract.namespace}". If clients of the service you replace use theirs, set SERVICE_NAMESPACE to it.`,
    );
  }

  override invoke(operation: ServedOperation): Promise<string> {
    const answer = this.#shared.answers.get(this.binding);
    if (answer === undefined) throw new Error(`${this.binding} is off.`);
    const values = operation.parameters.length === 0 ? {} : this.#parameters(operation);
    return answer(operation.name, values, { call: this });
  }

  #parameters(operation: ServedOperation): ParameterValues {
    const message = this.#message;
    const isNamed = message?.element?.name === operation.name;
    const { texts, otherNamespace, withElements } = (isNamed && message.arguments) || {};
    if (withElements !== undefined) throw CallError.mustBe(withElements, 'text, without XML elements in it');
    if (otherNamespace !== undefined) this.hint('parameter-namespace', this.#namespaceHint(otherNamespace));
    return operation.values((name) => texts?.get(name) ?? []);
  }

  #namespaceHint({ namespace, name }: ElementName): string {
    const found = namespace === '' ? 'no namespace' : `the namespace "${shortened(namespace)}"`;
    return (
      `A SOAP message for ${this.operation?.name ?? ''} has the parameter ${name} in ${found}, so it is ignored. ` +
      `Let the client send it in "${this.endpoint.contract.namespace}", as one made from ?WSDL=extended does.`
    );
  }

  override reply(envelope: string): void | Promise<void> {
    return this.response.replyCompressed(this.#version.contentType, envelope);
  }

  override refuse(error: unknown, refusal: RequestError | undefined): void {
    const fault = faultOf(error, refusal, this.#message?.security);
    const { mismatch } = fault.details;
    const version = mismatch === undefined ? this.#version : SoapVersion[mismatch.version];
    // The media types of messages (W3C Linked Data Platform 1.0, section 7.1).
    const accepted = this.#shared.messageContract.bindings.map((binding) => SoapVersion[binding].mediaType).join(', ');
    const headers = fault.status === 415 ? { ...fault.headers, 'Accept-Post': accepted } : fault.headers;
    this.response.reply(fault.status, version.contentType, faultEnvelope(fault, version), headers);
  }

  override content(): CallContent {
    return this.#message?.content ?? {};
  }

  override forget(): void {
    super.forget();
    this.#message = undefined;
  }
}

/** The fault of a refusal. SOAP 1.1, section 4.4.1: Client means not to send the message again, Server to try later. */
function faultOf(error: unknown, refusal: RequestError | undefined, security: SecurityHeader | undefined): Fault {
  if (refusal === undefined) return FAULTS.failed(error);
  if (refusal instanceof Fault) return refusal;
  // The operation found something wrong with its input. Faults have status 500 (SOAP 1.1, section 6.2).
  if (!(error instanceof RequestError) && refusal.category === 'invalid') return FAULTS.invalidInput(refusal.message);
  const code = refusal.category === 'busy' || refusal.category === 'rate' ? 'Server' : 'Client';
  // A WS-Security header yields no key, or the key in it is not valid.
  const keyCode = security && (security.problem?.code ?? SECURITY_CODES.failedAuthentication);
  const { status, message, category, headers } = refusal;
  const subcode = category === 'key' ? keyCode : undefined;
  return new Fault(code, message, { status, category, headers, subcode });
}

/** Names the operation with an action, as it is, URL-decoded, or in UTF-8, which Node reads as ISO 8859-1. */
function operationWithAction({ operationByAction: byAction }: Contract, action: string): string | undefined {
  const written = byAction.get(action);
  if (written !== undefined) return written;
  const text = urlDecoded(action);
  return byAction.get(text) ?? byAction.get(Buffer.from(text, 'latin1').toString('utf8'));
}

function soapActionValue(header: string): string {
  const text = header.trim();
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1).trim() : text;
}

function actionValue(parameter: string): string {
  return parameter.replace(/^'+|(?<!')'+$/g, '');
}

/** Decodes escapes as ASP.NET does: also those of a UTF-16 code unit (`%u00e9`). Escapes that are not UTF-8 stay as they are. */
function urlDecoded(value: string): string {
  if (!value.includes('%')) return value;
  return value.replace(/%u([\da-f]{4})|(?:%[\da-f]{2})+/gi, (escapes, unit: string | undefined) =>
    unit === undefined ? decoded(escapes) : String.fromCharCode(Number.parseInt(unit, 16)),
  );
}
