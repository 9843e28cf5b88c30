import { readFile } from 'node:fs/promises';
import { Charset, MediaType } from '../../http/content/media-type';
import { oneLine } from '../../util/text';
import { XmlElement } from '../../xml/xml-tree';
import { NoAnswerError, statusText, type HttpAnswer, type HttpClient } from '../http-client';
import { fileError } from '../terminal';
import { contractLines, HTTP, SOAP, SOAP12, WSDL } from './canonical';

/** One of the two services: its WSDL, and the address of its calls. */
export interface ComparedService {
  /** As messages call it, without user and password. */
  readonly name: string;
  readonly wsdl: Wsdl;
  /** Undefined if there is only a document. */
  readonly endpoint: URL | undefined;
}

/** Reads the WSDL of a service from an address or a file. Throws in one line if there is none that can be compared. */
export async function readService(text: string, client: HttpClient): Promise<ComparedService> {
  if (/^https?:\/\//i.test(text)) return fromAddress(text, client);
  const bytes = await readFile(text).catch((error: unknown) => {
    const problem = fileError(text, 'read', error) as Error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      problem.message += ' An address begins with http:// or https://.';
    throw problem;
  });
  return { name: text, wsdl: wsdlOf(bytes, undefined, text), endpoint: undefined };
}

async function fromAddress(text: string, client: HttpClient): Promise<ComparedService> {
  // The text may hold a password.
  if (!URL.canParse(text)) throw new Error('The address is not valid. Write it as in http://host/path.');
  const url = new URL(text);
  url.hash = '';
  if (url.search === '') url.search = '?WSDL';
  const name = nameOf(url);
  const answer = await client.ask(url, { method: 'GET' });
  if (answer instanceof NoAnswerError) {
    const reason = oneLine(answer.message).replace(/\.?$/, '.');
    throw new Error(`${name} cannot be read: ${reason}${url.protocol === 'https:' ? TLS_ADVICE : ''}`);
  }
  if (answer.status !== 200) throw new Error(refusal(name, answer));
  const wsdl = wsdlOf(answer.body, MediaType.parse(answer.headers['content-type'])?.charset, name);
  url.search = '';
  return { name: nameOf(url), wsdl, endpoint: url.pathname.endsWith('.wsdl') ? undefined : url };
}

const TLS_ADVICE =
  ' --ca FILE names an authority to trust; --insecure takes any certificate, and old versions of TLS. Write http:// if it has no TLS.';

function refusal(name: string, { status, headers: { location } }: HttpAnswer): string {
  const answered = `${name} answered ${statusText(status)}`;
  if (status >= 300 && status <= 399 && location !== undefined)
    return `${answered}: it redirects to ${oneLine(URL.canParse(location, name) ? new URL(location, name).href : location)}. Give that address if it is right.`;
  const asFile = 'Save its ?WSDL with a browser and give the file instead';
  if (status === 401)
    return `${answered}. ${asFile}, or write http://user:password@host/… if it wants Basic authentication.`;
  return `${answered}. Check the address. If it shows no WSDL to this machine: ${asFile}.`;
}

/** An address as it may be shown: without user and password. */
function nameOf({ origin, pathname, search }: URL): string {
  return origin + pathname + search;
}

function wsdlOf(bytes: Buffer, given: Charset | undefined, name: string): Wsdl {
  const charset = Charset.ofXml(bytes, given);
  const text = charset.decode(bytes);
  if (text === undefined) throw new Error(`${name} is not valid ${oneLine(charset.name)}.`);
  try {
    return readWsdl(text);
  } catch (error) {
    throw new Error(`${name} cannot be read as a WSDL`, { cause: error });
  }
}

export type Wsdl = ReturnType<typeof readWsdl>;

/** Reads what is compared of a WSDL. Throws in one line if it is not a WSDL 1.1. */
export function readWsdl(text: string) {
  const root = rootOf(text);
  const services = root.children(WSDL, 'service');
  const described = root.children(WSDL, 'portType').flatMap((portType) => portType.children(WSDL, 'operation'));
  const ports = services.flatMap((service) => service.children(WSDL, 'port'));
  const addresses = ports.flatMap((port) => port.children()).filter(({ name }) => name === 'address');
  const bindingsOf = (port: XmlElement) => {
    const name = port.qualifiedName(port.attribute('binding') ?? '')?.name;
    return root.children(WSDL, 'binding').filter((binding) => binding.attribute('name') === name);
  };
  return {
    targetNamespace: root.attribute('targetNamespace') ?? '',
    serviceName: services[0]?.attribute('name') ?? '',
    /** The names in all port types, each once. */
    operations: [...new Set(described.flatMap((operation) => operation.attribute('name') ?? []))],
    lines: contractLines(root),
    /** The protocols of the ports, as messages call them: `SOAP 1.1`, `SOAP 1.2`, `HTTP GET`, `HTTP POST`. */
    protocols: ports.flatMap(bindingsOf).flatMap(protocolOf),
    /** That of the first port which has one. */
    address: addresses.flatMap((address) => address.attribute('location') ?? [])[0],
  };
}

function protocolOf(binding: XmlElement): string | [] {
  const extension = binding.children().find(({ name }) => name === 'binding');
  if (extension?.namespace === SOAP) return 'SOAP 1.1';
  if (extension?.namespace === SOAP12) return 'SOAP 1.2';
  return extension?.namespace === HTTP ? `HTTP ${extension.attribute('verb') ?? ''}` : [];
}

function rootOf(text: string): XmlElement {
  if (/^\s*(?:<!doctype\s+html|<html)\b/i.test(text)) throw new Error('It is an HTML page, not a WSDL.');
  const root = XmlElement.read(text);
  if (root.namespace !== WSDL || root.name !== 'definitions')
    throw new Error(`It is not a WSDL 1.1: its root element is ${root.name}.`);
  if (root.children(WSDL, 'service').length === 0) throw new Error('It describes no service.');
  return root;
}
