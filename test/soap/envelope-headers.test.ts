import { readAnyMessage as read } from '../support/any-message';
import { SOAP_11_NAMESPACE, SOAP_12_NAMESPACE } from '../support/bindings';
import { securityHeader, usernameToken } from '../support/wsse';

/** A SOAP 1.1 envelope around this. */
const envelope = (inside: string) => `<s:Envelope xmlns:s="${SOAP_11_NAMESPACE}">${inside}</s:Envelope>`;
const message = (body: string, header = '') => envelope(`${header}<s:Body>${body}</s:Body>`);
const version12 = (xml: string) => xml.replaceAll(SOAP_11_NAMESPACE, SOAP_12_NAMESPACE);
const header = (blocks: string) => `<s:Header>${blocks.replaceAll('SOAP:', 's:')}</s:Header>`;

describe('the header blocks that must be understood', () => {
  const ROLE_12 = 'http://www.w3.org/2003/05/soap-envelope/role/';
  const block = (attributes: string) => header(`<h xmlns="urn:x" ${attributes}><i s:mustUnderstand="1"/></h>`);

  it.each([
    ['s:mustUnderstand="1"', 1],
    ['s:mustUnderstand=" true "', 1],
    ['s:mustUnderstand="TRUE"', 0],
    ['mustUnderstand="1"', 0],
    [`s:mustUnderstand="1" s:role=" ${ROLE_12}next "`, 1],
    [`s:mustUnderstand="1" s:role="${ROLE_12}ultimateReceiver"`, 1],
    ['s:mustUnderstand="1" s:role=""', 1],
    ['s:mustUnderstand="1" s:actor="urn:somebody-else"', 1],
    ['s:role="urn:somebody-else" s:mustUnderstand="1" s:relay="true"', 0],
  ])('of SOAP 1.2 with %s: %i', (attributes, count) => {
    expect(read(version12(message('', block(attributes)))).mandatoryHeaders).toEqual(
      Array(count).fill({ namespace: 'urn:x', name: 'h' }),
    );
  });

  it.each([
    ['http://schemas.xmlsoap.org/soap/actor/next', 1],
    ['urn:somebody-else', 0],
  ])('of SOAP 1.1 for %s: %i', (actor, count) => {
    expect(read(message('', block(`s:mustUnderstand="1" s:actor="${actor}"`))).mandatoryHeaders).toHaveLength(count);
  });

  it('are listed once, and 64 at most', () => {
    const blocks = (count: number) =>
      Array.from({ length: count }, (_, i) => `<h${String(i)} s:mustUnderstand="1"/>`).join('');
    const namesOf = (inside: string) => read(message('', header(inside))).mandatoryHeaders.map(({ name }) => name);
    expect(namesOf(`${blocks(2)}<h0 s:mustUnderstand="1"/>`)).toEqual(['h0', 'h1']);
    expect(namesOf(`${blocks(1)}<h0 xmlns="urn:x" s:mustUnderstand="1"/>`)).toEqual(['h0', 'h0']);
    expect(namesOf(blocks(64))).toHaveLength(64);
    expect(namesOf(blocks(65))).toHaveLength(64);
  });

  it('are neither in the body nor after it', () => {
    expect(read(message('<h s:mustUnderstand="1"/>')).mandatoryHeaders).toEqual([]);
    const after = envelope('<s:Body/><o:x xmlns:o="urn:o"><h s:mustUnderstand="1"/></o:x>');
    expect(read(after).mandatoryHeaders).toEqual([]);
  });
});

describe('the WS-Security header of an envelope', () => {
  const securityOf = (blocks: string) => read(message('', header(blocks))).security;

  it('is read with what stands inside of it alone', () => {
    const security = securityOf(`<a xmlns="">x</a>${securityHeader(usernameToken('key'))}<a xmlns=""><b>y</b></a>`);
    expect(security).toMatchObject({ password: 'key', problem: undefined, mandatory: false });
  });

  it('says whether it must be understood, and is not among the other blocks', () => {
    const { security, mandatoryHeaders } = read(
      message('', header(securityHeader(usernameToken('key'), 'SOAP:mustUnderstand="1"'))),
    );
    expect([security?.mandatory, mandatoryHeaders]).toEqual([true, []]);
  });

  it('ends with its last tag, also where it has no content', () => {
    const security = securityOf(`${securityHeader('')}<x xmlns=""><UsernameToken/></x>`);
    expect(security?.problem?.message).toContain('it has no UsernameToken with a Username');
  });

  it('is missing where it is for somebody else', () => {
    expect(securityOf(securityHeader('', 'SOAP:actor="urn:x"'))).toBeUndefined();
    expect(read(message('')).security).toBeUndefined();
  });
});

describe('WS-Addressing', () => {
  it.each([
    ['http://www.w3.org/2005/08/addressing', '', true],
    ['http://schemas.xmlsoap.org/ws/2004/08/addressing', '', true],
    ['http://www.w3.org/2005/08/addressing', 's:actor="urn:x"', true],
    ['urn:x', '', false],
  ])('is seen by the namespace %s', (namespace, attributes, has) => {
    expect(read(message('', header(`<w:To xmlns:w="${namespace}" ${attributes}/>`))).hasAddressing).toBe(has);
  });

  it('is not seen in the body', () => {
    expect(read(message('<To xmlns="http://www.w3.org/2005/08/addressing"/>')).hasAddressing).toBe(false);
  });
});
