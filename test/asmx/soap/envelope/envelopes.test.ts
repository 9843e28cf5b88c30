import { Envelopes } from '../../../../src/asmx/soap/envelope/envelopes';
import { envelope11, NAMESPACE, resultOf, SOAP_11_NAMESPACE } from '../../../support/bindings';
import { send } from '../../../support/http';
import { startService } from '../../../support/service';

const HELLO = envelope11('HelloWorld');
const numbered = (number: number): string => HELLO.replace('<soap:Body>', `<!-- ${String(number)} --><soap:Body>`);

describe('a repeated message', () => {
  it('is read once', () => {
    const envelopes = new Envelopes();
    expect(envelopes.read(HELLO)).toBe(envelopes.read(HELLO));
  });

  it.each([
    ['has a payload', envelope11('RecordEvent', '<a/>')],
    ['has text as its payload', envelope11('RecordEvent', 'a')],
    ['has two elements in its body', HELLO.replace('</soap:Body>', '<b/></soap:Body>')],
    ['has a header', HELLO.replace('<soap:Body>', '<soap:Header/><soap:Body>')],
    ['is large', HELLO.replace('<soap:Body>', `<soap:Body>${' '.repeat(2048)}`)],
  ])('is read again if it %s', (_case, xml) => {
    const envelopes = new Envelopes();
    expect(envelopes.read(xml)).not.toBe(envelopes.read(xml));
  });

  it('is refused each time if it is wrong', () => {
    const envelopes = new Envelopes();
    const xml = `<soap:Envelope xmlns:soap="${SOAP_11_NAMESPACE}"/>`;
    for (let i = 0; i < 2; i++) expect(() => envelopes.read(xml)).toThrow('Missing required soap:Body element.');
  });

  it('is remembered after many others, and forgotten in a flood of others, which cannot fill the memory', () => {
    const envelopes = new Envelopes();
    for (let i = 0; i < 300; i++) envelopes.read(numbered(i));
    envelopes.read(HELLO);
    expect(envelopes.read(HELLO)).toBe(envelopes.read(HELLO));
    const known = envelopes.read(HELLO);
    for (let i = 300; i < 20_000; i++) envelopes.read(numbered(i));
    expect(envelopes.read(HELLO)).not.toBe(known);
  });

  it('is routed by its own SOAPAction each time', async () => {
    const service = await startService();
    const call = (operation: string) =>
      send(service.url, {
        method: 'POST',
        headers: { 'Content-Type': 'text/xml', SOAPAction: `"${NAMESPACE}${operation}"` },
        body: HELLO,
      });
    expect(resultOf(await call('HelloWorld'))).toBe('Hello World');
    expect(resultOf(await call('GetEvents'))).toBe('[]');
    expect(resultOf(await call('HelloWorld'))).toBe('Hello World');
    await service.stop();
  });
});
