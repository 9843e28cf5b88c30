import { create } from 'xmlbuilder2';
import { messageChain } from '../message-chain';
import { SCHEMA_NAMESPACES, SOAP_11, SOAP_12, type SoapVersion } from './soap-version';
import { builderText } from './xml';

/** Whose mistake a fault is, in the words of SOAP 1.1; SOAP 1.2 says Sender and Receiver for Client and Server. */
export type FaultCode = 'Client' | 'Server' | 'MustUnderstand' | 'VersionMismatch';

const CODES_12: Readonly<Record<FaultCode, string>> = {
  Client: 'Sender',
  Server: 'Receiver',
  MustUnderstand: 'MustUnderstand',
  VersionMismatch: 'VersionMismatch',
};

/** A SOAP request that is refused or failed. The message is what the caller is told. */
export class Fault extends Error {
  override readonly name = 'Fault';

  constructor(
    readonly code: FaultCode,
    message: string,
    /** HTTP status of the reply. */
    readonly status = 500,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A fault for a message that cannot be read as XML: HTTP status 400. */
export function unreadable(reason: string): Fault {
  return new Fault('Client', `Server was unable to read request. ---> ${reason}`, 400);
}

/** The fault that tells a caller of an operation's failure. */
export function operationFault(error: unknown): Fault {
  return new Fault('Server', `Server was unable to process request. ---> ${messageChain(error)}`, 500, {
    cause: error,
  });
}

/** Writes the envelope of a fault. A version mismatch is always told in SOAP 1.1 (SOAP 1.2 part 1, section 5.4.7). */
export function faultEnvelope(fault: Fault, version: SoapVersion): string {
  const { namespace } = fault.code === 'VersionMismatch' ? SOAP_11 : version;
  const envelope = create({ version: '1.0', encoding: 'utf-8' }).ele(namespace, 'soap:Envelope').att(SCHEMA_NAMESPACES);
  if (fault.code === 'VersionMismatch') {
    const upgrade = envelope.ele('soap:Header').ele(SOAP_12.namespace, 'soap12:Upgrade');
    upgrade.ele('soap12:SupportedEnvelope').att('qname', 'soap:Envelope');
    upgrade.ele('soap12:SupportedEnvelope').att('qname', 'soap12:Envelope');
  }
  const element = envelope.ele('soap:Body').ele('soap:Fault');
  const text = builderText(fault.message);
  // SOAP 1.1, section 4.4: detail tells of the body, so a fault that is about a header block has none.
  const hasDetail = fault.code !== 'MustUnderstand';
  if (namespace === SOAP_11.namespace) {
    element.ele('', 'faultcode').txt(`soap:${fault.code}`);
    element.ele('', 'faultstring').txt(text);
    if (hasDetail) element.ele('', 'detail');
  } else {
    element.ele('soap:Code').ele('soap:Value').txt(`soap:${CODES_12[fault.code]}`);
    element.ele('soap:Reason').ele('soap:Text').att('xml:lang', 'en').txt(text);
    if (hasDetail) element.ele('soap:Detail');
  }
  return envelope.end({ spaceBeforeSlash: true });
}
