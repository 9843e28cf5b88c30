// The calls that the bench makes, each with a pattern of a right answer.

const NAMESPACE = 'http://tempuri.org/';
const SCHEMAS = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema"';
const DECLARATION = '<?xml version="1.0" encoding="utf-8"?>';
const ENVELOPES = {
  soap11: 'http://schemas.xmlsoap.org/soap/envelope/',
  soap12: 'http://www.w3.org/2003/05/soap-envelope',
};

/** What the original, and so this service, answers to HelloWorld over SOAP 1.1. */
export const SOAP_11_ANSWER = `${DECLARATION}<soap:Envelope xmlns:soap="${ENVELOPES.soap11}" ${SCHEMAS}><soap:Body><HelloWorldResponse xmlns="${NAMESPACE}"><HelloWorldResult>Hello World</HelloWorldResult></HelloWorldResponse></soap:Body></soap:Envelope>`;

export const BINDINGS = ['soap11', 'soap12', 'httpget', 'httppost'];

const RIGHT = {
  HelloWorld: />Hello World</,
  RecordEvent: />[\da-f]{8}-[\da-f]{4}-7[\da-f-]{21}</,
  GetEvents: />\[\{"specversion":"1\.0",[^]*\}\]</,
};

/** An order, as a shop would report it: 264 bytes. No two have the same number. */
export const ORDER =
  '<Order xmlns="urn:example:shop"><Number>COUNTER</Number><Customer>Jane Doe</Customer><Placed>2026-11-21T10:15:30Z</Placed>' +
  '<Line><Article>4711</Article><Quantity>2</Quantity><Price currency="EUR">19.90</Price></Line><Total currency="EUR">39.80</Total></Order>';

/**
 * One call: its method, the path after the endpoint's, header fields, body, and a pattern of a right answer. `different` adds
 * a comment to the envelope in which the load generator counts, so that no two envelopes are the same. `payload` is what the
 * operation has inside over SOAP, `form` what it has as fields over HTTP GET and POST.
 */
export function callOf(binding, operation, { different = false, payload = '', form = '' } = {}) {
  const right = RIGHT[operation];
  const comment = different ? '<!-- COUNTER -->' : '';
  const element = payload
    ? `<${operation} xmlns="${NAMESPACE}">${payload}</${operation}>`
    : `<${operation} xmlns="${NAMESPACE}" />`;
  const envelope = (prefix) =>
    `${DECLARATION}<${prefix}:Envelope ${SCHEMAS} xmlns:${prefix}="${ENVELOPES[binding]}">${comment}<${prefix}:Body>${element}</${prefix}:Body></${prefix}:Envelope>`;
  const soap = { method: 'POST', path: '', right };
  switch (binding) {
    case 'soap11': {
      const headers = { 'Content-Type': 'text/xml; charset=utf-8', SOAPAction: `"${NAMESPACE}${operation}"` };
      return { ...soap, headers, body: envelope('soap') };
    }
    case 'soap12':
      return { ...soap, headers: { 'Content-Type': 'application/soap+xml; charset=utf-8' }, body: envelope('soap12') };
    case 'httpget':
      return { method: 'GET', path: `/${operation}?${form}`, headers: {}, body: '', right };
    case 'httppost': {
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
      return { method: 'POST', path: `/${operation}`, headers, body: form, right };
    }
  }
}

/** A call to a server that always answers as to HelloWorld, whatever it is sent. */
export const helloWorldAnswered = (call) => ({ ...call, right: RIGHT.HelloWorld });
