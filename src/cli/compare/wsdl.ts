import { STATUS_CODES } from 'node:http';
import { readFile, stat } from 'node:fs/promises';
import { Charset } from '../../http/content/charset';
import { MediaType } from '../../http/content/media-type';
import { XmlElement, XmlError } from '../../xml/xml-tree';
import { NoAnswerError, type HttpAnswer, type HttpClient } from '../http-client';
import { fileError, quoted } from '../terminal';
import { contractLines } from './canonical';
import { extensionOf, nameText, protocolOf, styleOf, WSDL, XSD } from './names';

/** One of the two services: its WSDL, and the address of its calls. */
export interface ComparedService {
  /** As messages call it, without user and password. */
  readonly name: string;
  readonly wsdl: Wsdl;
  /** Undefined if there is only a document. */
  readonly endpoint: URL | undefined;
}

/** Thrown when a WSDL cannot be had or compared; the message is one line. */
export class WsdlError extends Error {
  override readonly name = 'WsdlError';
}

const MAX_FILE_BYTES = 4 * 1024 * 1024;

/**
 * Reads the WSDL of a service from an address or a file.
 *
 * @throws {WsdlError} it cannot be had, or is not a WSDL that can be compared.
 */
export async function readService(text: string, client: HttpClient): Promise<ComparedService> {
  return /^https?:\/\//i.test(text) ? fromAddress(text, client) : fromFile(text);
}

async function fromFile(file: string): Promise<ComparedService> {
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES) throw new WsdlError(`${file} is longer than 4 MiB.`);
    return { name: file, wsdl: wsdlOf(await readFile(file), undefined, file), endpoint: undefined };
  } catch (error) {
    const problem = fileError(file, 'read', error);
    const isFile = (error as NodeJS.ErrnoException).code !== 'ENOENT' || /\.(?:wsdl|xml)$/i.test(file);
    throw isFile ? problem : new WsdlError(`${(problem as Error).message} An address begins with http:// or https://.`);
  }
}

async function fromAddress(text: string, client: HttpClient): Promise<ComparedService> {
  const url = addressOf(text);
  const answer = await ask(url, client);
  const name = nameOf(url);
  if (answer.status !== 200) throw new WsdlError(refusal(name, answer));
  const { charset } = MediaType.parse(answer.headers.get('content-type') ?? '') ?? {};
  const wsdl = wsdlOf(answer.body, charset, name);
  const endpoint = new URL(url);
  endpoint.search = '';
  return { name: nameOf(endpoint), wsdl, endpoint: endpoint.pathname.endsWith('.wsdl') ? undefined : endpoint };
}

function addressOf(text: string): URL {
  // The text may hold a password.
  if (!URL.canParse(text)) throw new WsdlError('The address is not valid. Write it as in http://host/path.');
  const url = new URL(text);
  url.hash = '';
  if (url.search === '') url.search = '?WSDL';
  return url;
}

async function ask(url: URL, client: HttpClient): Promise<HttpAnswer> {
  try {
    return await client.ask(url, { method: 'GET' });
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
    throw new WsdlError(
      `${nameOf(url)} cannot be read: ${quoted(error.message).replace(/\.?$/, '.')}${adviceFor(error)}`,
    );
  }
}

function adviceFor({ cause }: NoAnswerError): string {
  const { code = '', message = '' } = (cause ?? {}) as Partial<NodeJS.ErrnoException>;
  if (message.includes('wrong version number')) return ' Write http:// if it has no TLS, or check the port.';
  return TLS_ERROR.test(code) ? TLS_ADVICE : '';
}

/** Codes of errors that certificates and versions of TLS cause. */
const TLS_ERROR = /CERT|SIGNATURE|^ERR_(?:SSL|TLS)/;
const TLS_ADVICE = ' --ca FILE names an authority to trust; --insecure takes any certificate, and old versions of TLS.';

function refusal(name: string, { status, headers }: HttpAnswer): string {
  const answered = `${name} answered ${String(status)} ${STATUS_CODES[status] ?? ''}`.trim();
  const location = headers.get('location');
  if (status >= 300 && status <= 399 && location !== undefined)
    return `${answered}: it redirects to ${quoted(URL.canParse(location, name) ? new URL(location, name).href : location)}. Give that address if it is right.`;
  const asFile = 'Save its ?WSDL with a browser and give the file instead';
  if (status === 401)
    return `${answered}. ${asFile}, or write http://user:password@host/… if it wants Basic authentication.`;
  return `${answered}. Check the address. If it shows no WSDL to this machine: ${asFile}.`;
}

function wsdlOf(bytes: Buffer, given: Charset | undefined, name: string): Wsdl {
  const charset = Charset.ofXml(bytes, given);
  const text = charset.decode(bytes);
  if (text === undefined) throw new WsdlError(`${name} is not valid ${quoted(charset.name)}.`);
  try {
    return new Wsdl(text);
  } catch (error) {
    if (!(error instanceof WsdlError)) throw error;
    throw new WsdlError(`${name} cannot be compared. ${quoted(error.message).replace(/\.?$/, '.')}`);
  }
}

/** An address as it may be shown: without user and password. */
function nameOf(url: URL): string {
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  return shown.href;
}

/** A port of a service. */
export interface Port {
  /** As in {@link protocolOf}. */
  readonly protocol: string | undefined;
  readonly address: string | undefined;
}

/** How an operation is called over one protocol. */
export interface OperationCall {
  /** Its element in a SOAP body; undefined over HTTP GET and POST. */
  readonly element?: { readonly namespace: string; readonly name: string } | undefined;
  readonly action: string;
  /** The text after the endpoint's address over HTTP GET and POST. */
  readonly location: string;
}

/** A WSDL 1.1. */
export class Wsdl {
  readonly targetNamespace: string;
  /** As {@link contractLines} writes them. */
  readonly lines: readonly string[];
  readonly ports: readonly Port[];
  readonly #definitions: XmlElement;

  /** @throws {WsdlError} it is not a WSDL 1.1, or parts of it are in other documents. */
  constructor(text: string) {
    const root = rootOf(text);
    this.#definitions = root;
    this.targetNamespace = root.attribute('targetNamespace') ?? '';
    this.lines = contractLines(root);
    const services = root.children(WSDL, 'service');
    if (services.length === 0) throw new WsdlError('It describes no service.');
    this.ports = services
      .flatMap((service) => service.children(WSDL, 'port'))
      .map((port) => {
        const address = extensionOf(port, 'address');
        const binding = this.#find('binding', port, 'binding');
        return {
          protocol: binding && protocolOf(binding),
          address: address && address.attribute('location'),
        };
      });
  }

  /** The protocols of the ports, as in {@link protocolOf}. */
  get protocols(): readonly string[] {
    return this.ports.flatMap(({ protocol }) => protocol ?? []);
  }

  /**
   * How to call an operation without arguments over a protocol. Returns undefined if there is none of that name, or if its
   * messages are not document/literal.
   */
  call(operation: string, protocol: string): OperationCall | undefined {
    for (const binding of this.#definitions.children(WSDL, 'binding')) {
      if (protocolOf(binding) !== protocol) continue;
      const found = binding.children(WSDL, 'operation').find((each) => each.attribute('name') === operation);
      const own = found && extensionOf(found, 'operation');
      if (found === undefined || own === undefined) continue;
      const action = own.attribute('soapAction') ?? '';
      const location = own.attribute('location') ?? '';
      if (protocol.startsWith('HTTP')) return { action, location };
      const element = this.#inputElement(operation, binding);
      if (element !== undefined && styleOf(found, binding) === 'document') return { element, action, location };
    }
    return undefined;
  }

  #inputElement(operation: string, binding: XmlElement): OperationCall['element'] {
    const portType = this.#find('portType', binding, 'type');
    const operations = portType === undefined ? [] : portType.children(WSDL, 'operation');
    const found = operations.find((each) => each.attribute('name') === operation);
    const [input] = found === undefined ? [] : found.children(WSDL, 'input');
    const message = input && this.#find('message', input, 'message');
    const [body] = message === undefined ? [] : message.children(WSDL, 'part');
    const element = body && body.attribute('element');
    return body === undefined || element === undefined ? undefined : body.qualifiedName(element);
  }

  /** Finds what an attribute refers to. */
  #find(kind: string, from: XmlElement, attribute: string): XmlElement | undefined {
    const name = from.qualifiedName(from.attribute(attribute) ?? '')?.name;
    return this.#definitions.children(WSDL, kind).find((each) => each.attribute('name') === name);
  }
}

function rootOf(text: string): XmlElement {
  let root: XmlElement;
  try {
    root = XmlElement.read(text);
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    const isPage = /^\s*(?:<!doctype\s+html|<html)\b/i.test(text);
    throw new WsdlError(isPage ? 'It is an HTML page, not a WSDL.' : error.message);
  }
  if (root.namespace !== WSDL || root.name !== 'definitions')
    throw new WsdlError(`It is not a WSDL 1.1: its root element is ${nameText(root)}.`);
  const elsewhere = importsOf(root);
  if (elsewhere !== undefined) {
    const hint = 'Services of WCF have it in one document at ?singleWsdl.';
    throw new WsdlError(`Parts of it are in another document, ${elsewhere}, which is not read. ${hint}`);
  }
  return root;
}

/** The address of another document that the WSDL needs, if there is one. */
function importsOf(definitions: XmlElement): string | undefined {
  const schemas = definitions.children(WSDL, 'types').flatMap((types) => types.children(XSD, 'schema'));
  const imports = schemas.flatMap((schema) =>
    ['import', 'include', 'redefine'].flatMap((name) => schema.children(XSD, name)),
  );
  return [
    ...definitions.children(WSDL, 'import').map((each) => each.attribute('location')),
    ...imports.map((each) => each.attribute('schemaLocation')),
  ].find((location) => location !== undefined);
}
