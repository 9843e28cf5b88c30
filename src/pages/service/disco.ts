import { create } from 'xmlbuilder2';
import { builderText } from '../../xml/xml-builder';
import type { Contract } from '../../contract/contract';

/** Writes the discovery document (DISCO): the addresses of the WSDL and of the SOAP bindings. */
export function discoveryDocument({ namespace, serviceName, offer }: Contract, endpointUrl: string): string {
  const address = builderText(endpointUrl);
  const discovery = create({ version: '1.0', encoding: 'utf-8' }).ele('http://schemas.xmlsoap.org/disco/', 'discovery');
  discovery
    .ele('http://schemas.xmlsoap.org/disco/scl/', 'contractRef')
    .att({ ref: `${address}?wsdl`, docRef: address });
  const soap = [...(offer.bindings.has('soap11') ? ['Soap'] : []), ...(offer.bindings.has('soap12') ? ['Soap12'] : [])];
  for (const binding of soap) {
    discovery
      .ele('http://schemas.xmlsoap.org/disco/soap/', 'soap')
      .att('address', address)
      .att('http://www.w3.org/2000/xmlns/', 'xmlns:q1', builderText(namespace))
      .att('binding', `q1:${serviceName}${binding}`);
  }
  return discovery.end({ prettyPrint: true, spaceBeforeSlash: true });
}
