import { create } from 'xmlbuilder2';
import type { Contract } from './contract';

/** Writes the discovery document: where the description of the service is, and its two SOAP bindings. */
export function discoveryDocument({ namespace, serviceName }: Contract, endpointUrl: string): string {
  const discovery = create({ version: '1.0', encoding: 'utf-8' }).ele('http://schemas.xmlsoap.org/disco/', 'discovery');
  discovery
    .ele('http://schemas.xmlsoap.org/disco/scl/', 'contractRef')
    .att({ ref: `${endpointUrl}?wsdl`, docRef: endpointUrl });
  for (const binding of ['Soap', 'Soap12']) {
    discovery
      .ele('http://schemas.xmlsoap.org/disco/soap/', 'soap')
      .att('address', endpointUrl)
      .att('http://www.w3.org/2000/xmlns/', 'xmlns:q1', namespace)
      .att('binding', `q1:${serviceName}${binding}`);
  }
  return discovery.end({ prettyPrint: true, spaceBeforeSlash: true });
}
