import { NAMESPACE, SOAP_11_NAMESPACE } from '../support/bindings';
import { holdUp } from '../support/hold-up';
import { send, type Answer } from '../support/http';
import { startService, type TestService } from '../support/service';

/** How long a message may hold up callers, in milliseconds of processor time. */
const MOST = 50;

const PREFIXES = Array.from({ length: 250 }, (_, i) => ` xmlns:p${String(i)}="urn:example:namespaces:${String(i)}"`);

describe('a message whose every element may need all of its many prefixes', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const child = '<a>&#65;</a>';
  const declaring = '<a xmlns:q="urn:q">&#65;</a>';

  async function call(operation: string, content: string): Promise<{ answers: Answer[]; heldUp: number }> {
    const body =
      `<s:Envelope xmlns:s="${SOAP_11_NAMESPACE}"${PREFIXES.join('')}><s:Body>` +
      `<${operation} xmlns="${NAMESPACE}">${content}</${operation}></s:Body></s:Envelope>`;
    const headers = { 'Content-Type': 'text/xml', SOAPAction: NAMESPACE + operation };
    const answers: Answer[] = [];
    const heldUp = await holdUp(async () => {
      answers.push(await send(service.url, { method: 'POST', headers, body }));
    }, MOST);
    return { answers, heldUp };
  }

  it.each([
    ['250 KB', child.repeat(19_500)],
    ['300 KB of elements with declarations', declaring.repeat(10_000)],
  ])('holds up callers for no more than 50 ms with %s', async (_what, content) => {
    const hello = await call('HelloWorld', content);
    for (const { status } of hello.answers) expect(status).toBe(200);
    expect(hello.heldUp).toBeLessThan(MOST);
    const record = await call('RecordEvent', content);
    for (const { body } of record.answers) expect(body).toContain('would grow by more than');
    expect(record.heldUp).toBeLessThan(MOST);
    expect((await service.log.stats()).last).toBe(0);
  });
});
