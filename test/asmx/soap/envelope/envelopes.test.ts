import { EnvelopeMemory } from '../../src/asmx/envelope-memory';
import { envelope11, NAMESPACE, resultOf, SOAP_11_NAMESPACE } from '../support/bindings';
import { send } from '../support/http';
import { startService } from '../support/service';

const HELLO = envelope11('HelloWorld');
const numbered = (number: number): string => HELLO.replace('<soap:Body>', `<!-- ${String(number)} --><soap:Body>`);

describe('a message that comes again', () => {
  it('is read once', () => {
    const memory = new EnvelopeMemory();
    expect(memory.read(HELLO)).toBe(memory.read(HELLO));
  });

  it.each([
    ['has a payload', envelope11('RecordEvent', '<a/>')],
    ['has text for a payload', envelope11('RecordEvent', 'a')],
    ['has two elements in its body', HELLO.replace('</soap:Body>', '<b/></soap:Body>')],
    ['has a header', HELLO.replace('<soap:Body>', '<soap:Header/><soap:Body>')],
    ['is large', HELLO.replace('<soap:Body>', `<soap:Body>${' '.repeat(2048)}`)],
  ])('is read again where it %s', (_case, xml) => {
    const memory = new EnvelopeMemory();
    expect(memory.read(xml)).not.toBe(memory.read(xml));
  });

  it('that is wrong is wrong again', () => {
    const memory = new EnvelopeMemory();
    const xml = `<soap:Envelope xmlns:soap="${SOAP_11_NAMESPACE}"/>`;
    for (let i = 0; i < 2; i++) expect(() => memory.read(xml)).toThrow('Missing required soap:Body element.');
  });

  it('is remembered soon although the memory is full of others, and a flood of others fills no memory', () => {
    const memory = new EnvelopeMemory();
    for (let i = 0; i < 300; i++) memory.read(numbered(i));
    for (let i = 0; i < 64; i++) memory.read(HELLO);
    expect(memory.read(HELLO)).toBe(memory.read(HELLO));
    const known = memory.read(HELLO);
    for (let i = 300; i < 20_000; i++) memory.read(numbered(i));
    expect(memory.read(HELLO)).not.toBe(known);
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
