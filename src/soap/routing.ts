import type { Contract } from '../contract/contract';
import { memoized } from '../util/text';
import type { Envelope } from './envelope-builder';
import { FAULTS } from './fault';
import { SOAP_11, type SoapVersion } from './soap-version';

/** Finds the operations of SOAP messages. */
export class Routing {
  readonly #contract: Contract;
  /** The operations that these values of header fields name. */
  readonly #ofSoapAction = memoized((header) => withAction(this.#contract, soapActionValue(header)));
  readonly #ofAction = memoized((parameter) => withAction(this.#contract, actionValue(parameter)));

  constructor(contract: Contract) {
    this.#contract = contract;
  }

  /**
   * Finds the operation as ASP.NET does. SOAP 1.1: by `SOAPAction` alone if the request has one. Otherwise, and in SOAP 1.2: by
   * the `action` parameter of the content type, then by the body's element.
   *
   * @throws {Fault} they name no operation of the contract.
   */
  of({ version, element }: Envelope, soapAction: string | string[] | undefined, action: string | undefined): string {
    if (version === SOAP_11 && soapAction !== undefined) {
      const operation = this.#ofSoapAction(String(soapAction));
      if (operation !== undefined) return operation;
      throw FAULTS.unknownSoapAction(urlDecoded(soapActionValue(String(soapAction))));
    }
    const operation =
      (action === undefined ? undefined : this.#ofAction(action)) ??
      (element && this.#contract.operation(element.namespace, element.name));
    if (operation !== undefined) return operation;
    throw action === undefined ? FAULTS.missingAction() : FAULTS.unknownAction(action);
  }

  /**
   * Finds the operation that the header fields of a request name, before its message has been read. Returns undefined if
   * they name none, or one that the contract does not have.
   */
  ofHeader(
    version: SoapVersion,
    soapAction: string | string[] | undefined,
    action: string | undefined,
  ): string | undefined {
    if (version === SOAP_11 && soapAction !== undefined) return this.#ofSoapAction(String(soapAction));
    return action === undefined ? undefined : this.#ofAction(action);
  }
}

/**
 * Names the operation with an action, as it is written or URL-decoded: namespaces may have escapes themselves. Some senders write
 * it in UTF-8, of which Node makes a character for each byte.
 */
function withAction(contract: Contract, action: string): string | undefined {
  const decoded = urlDecoded(action);
  const operation = contract.action(action) ?? contract.action(decoded);
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
