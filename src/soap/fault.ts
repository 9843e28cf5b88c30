import type { OutgoingHttpHeaders } from 'node:http';
import { create } from 'xmlbuilder2';
import { builderText } from '../xml/characters';
import type { XMLBuilder } from 'xmlbuilder2/lib/interfaces';
import { HTTP_ERRORS, RequestError } from '../http/errors';
import { shortened } from '../util/text';
import { Binding } from '../config/values';
import type { ElementName } from '../xml/handler';
import type { QualifiedName, SecurityProblem } from './ws-security';
import { SCHEMA_NAMESPACES, SoapVersion } from './soap-version';

/** Fault codes in the words of SOAP 1.1. SOAP 1.2 calls Client and Server Sender and Receiver. */
type FaultCode = 'Client' | 'Server' | 'MustUnderstand' | 'VersionMismatch';

const CODES_12: Readonly<Partial<Record<FaultCode, string>>> = { Client: 'Sender', Server: 'Receiver' };

interface FaultDetails {
  /** HTTP status; 500 if it is not given (SOAP 1.1, section 6.2). */
  readonly status?: number | undefined;
  readonly category?: RequestError['category'] | undefined;
  readonly headers?: OutgoingHttpHeaders | undefined;
  /** Of another specification: the fault code in SOAP 1.1, the subcode in SOAP 1.2. */
  readonly subcode?: QualifiedName | undefined;
  readonly notUnderstood?: readonly ElementName[] | undefined;
  /** The version of the fault, and those that the service has. */
  readonly mismatch?: Readonly<{ version: SoapVersion['binding']; supported: readonly SoapVersion['binding'][] }>;
}

/** A SOAP call that was refused or failed. Its message is for the caller. */
export class Fault extends RequestError {
  override readonly name = 'Fault';
  readonly details: Omit<FaultDetails, 'status' | 'category' | 'headers'>;

  constructor(
    readonly code: FaultCode,
    message: string,
    { status = 500, category, headers, ...details }: FaultDetails = {},
  ) {
    super(status, message, category, headers);
    this.details = details;
  }
}

const client = (message: string, details?: FaultDetails) => new Fault('Client', message, details);

/** Every fault of the SOAP bindings: text, code and HTTP status. What they quote of a caller's text is shortened. */
export const FAULTS = {
  contentType: (
    given: string | undefined,
    supported: readonly SoapVersion['binding'][],
    webhooks: string | undefined,
  ) =>
    client(
      `${given === undefined ? 'The request has no content type.' : `The content type ${shortened(given)} is not supported here.`} ` +
        `Send ${supported.map((binding) => `${Binding.names[binding]} as ${SoapVersion[binding].mediaType}`).join(', ')}.` +
        (webhooks === undefined ? '' : ` Webhooks go to ${webhooks}, as JSON, a form, XML or text.`),
      { status: 415 },
    ),
  contentTypeOfSoap11: (given: string) =>
    client(`The envelope is SOAP 1.1, which is sent as ${SoapVersion.soap11.mediaType}, not as ${shortened(given)}.`, {
      status: 415,
    }),
  unreadable: (reason: string) => client(`${UNREADABLE} ---> ${reason}`, { status: 400 }),
  invalidFormat: (what: string) => client(`${UNREADABLE} ---> Request format is invalid: ${what}`),
  /** Also for a message with more than one header before its body; the original's text. */
  missingBody: () => FAULTS.invalidFormat('Missing required soap:Body element.'),
  invalidInput: (reason: string) => client(`${UNREADABLE} ---> ${reason}`),
  /** A message of SOAP 1.1 is answered in SOAP 1.1, any other in a version that is supported (SOAP 1.2 part 1, section 5.4.7). */
  envelopeNamespace: (namespace: string, supported: readonly SoapVersion['binding'][]) => {
    const [expected = 'soap11'] = supported;
    const version = SoapVersion.all.some((known) => known.namespace === namespace) ? 'soap11' : expected;
    return new Fault(
      'VersionMismatch',
      `Possible SOAP version mismatch: Envelope namespace ${shortened(namespace)} was unexpected. Expecting ${SoapVersion[expected].namespace}.`,
      { mismatch: { version, supported } },
    );
  },
  payloadGrowth: (maxGrowth: number) =>
    FAULTS.unreadable(
      `The payload would grow by more than ${String(maxGrowth)} characters, since its elements use namespaces that are declared outside ` +
        'of them. Declare each namespace on an element inside the payload.',
    ),
  unknownSoapAction: (given: string) =>
    client(`Server did not recognize the value of HTTP Header SOAPAction: ${shortened(given)}.`),
  missingAction: () =>
    client('Unable to handle request without a valid action parameter. Please supply a valid soap action.'),
  unknownAction: (given: string) =>
    client(`Unable to handle request. The action '${shortened(given)}' was not recognized.`),
  notUnderstood: (blocks: readonly ElementName[]) =>
    new Fault('MustUnderstand', `SOAP header ${shortened(blocks[0]?.name ?? '')} was not understood.`, {
      notUnderstood: blocks,
    }),
  security: ({ code, message }: SecurityProblem) => client(message, { subcode: code }),
  failed: (error: unknown) => {
    const { message, status, headers } = HTTP_ERRORS.failed(error);
    return new Fault('Server', `Server was unable to process request. ---> ${message}`, { status, headers });
  },
} as const;

const UNREADABLE = 'Server was unable to read request.';

export function faultEnvelope(fault: Fault, version: SoapVersion): string {
  const { namespace } = version;
  const { mismatch, notUnderstood = [] } = fault.details;
  const envelope = create({ version: '1.0', encoding: 'utf-8' }).ele(namespace, 'soap:Envelope').att(SCHEMA_NAMESPACES);
  if (mismatch !== undefined) writeUpgrade(envelope, mismatch.supported);
  else if (version === SoapVersion.soap12) writeNotUnderstood(envelope, notUnderstood);
  const element = envelope.ele('soap:Body').ele('soap:Fault');
  if (version === SoapVersion.soap11) writeFault11(element, fault);
  else writeFault12(element, fault);
  return envelope.end({ spaceBeforeSlash: true });
}

function writeFault11(element: XMLBuilder, { code, message, details: { subcode } }: Fault): void {
  const faultcode = element.ele('', 'faultcode');
  if (subcode === undefined) faultcode.txt(`soap:${code}`);
  else writeQualifiedName(faultcode, subcode);
  element.ele('', 'faultstring').txt(builderText(message));
  // Section 4.4: it describes errors of the body, so a fault about a header block has none.
  if (code !== 'MustUnderstand') element.ele('', 'detail');
}

function writeFault12(element: XMLBuilder, { code, message, details: { subcode } }: Fault): void {
  const codes = element.ele('soap:Code');
  codes.ele('soap:Value').txt(`soap:${CODES_12[code] ?? code}`);
  if (subcode !== undefined) writeQualifiedName(codes.ele('soap:Subcode').ele('soap:Value'), subcode);
  element.ele('soap:Reason').ele('soap:Text').att('xml:lang', 'en').txt(builderText(message));
  if (code !== 'MustUnderstand') element.ele('soap:Detail');
}

/** Writes a qualified name as the text of an element, which declares its prefix. */
function writeQualifiedName(element: XMLBuilder, { namespace, prefix, name }: QualifiedName): void {
  element.att(`xmlns:${prefix}`, namespace).txt(`${prefix}:${name}`);
}

/** SOAP 1.2 part 1, section 5.4.7. A service without SOAP 1.2 does not know this block. */
function writeUpgrade(envelope: XMLBuilder, supported: readonly SoapVersion['binding'][]): void {
  if (!supported.includes('soap12')) return;
  const upgrade = envelope.ele('soap:Header').ele(SoapVersion.soap12.namespace, 'soap12:Upgrade');
  // The prefix is in values, so it is declared even if the envelope has another for the same namespace.
  upgrade.att('http://www.w3.org/2000/xmlns/', 'xmlns:soap12', SoapVersion.soap12.namespace);
  for (const binding of supported)
    upgrade.ele('soap12:SupportedEnvelope').att('qname', `${binding === 'soap12' ? 'soap12' : 'soap'}:Envelope`);
}

/** A block with a longer name is not listed: it would have to be listed whole. */
const MAX_NAME_LENGTH = 1024;

/** SOAP 1.2 part 1, section 5.4.8. */
function writeNotUnderstood(envelope: XMLBuilder, blocks: readonly ElementName[]): void {
  const listed = blocks.filter(({ namespace, name }) => namespace.length + name.length <= MAX_NAME_LENGTH);
  if (listed.length === 0) return;
  const header = envelope.ele('soap:Header');
  for (const { namespace, name } of listed) {
    const element = header.ele('soap:NotUnderstood');
    if (namespace === '') element.att('qname', name);
    else element.att('qname', `h:${name}`).att('xmlns:h', builderText(namespace));
  }
}
