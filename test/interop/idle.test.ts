import { envelope11, NAMESPACE } from '../support/bindings';
import { startService, type TestService } from '../support/service';
import { openWire } from '../support/wire';

/** A load balancer's idle time-out is commonly 60 seconds; it must be the one that closes. */
const IDLE = 61_000;

describe('a connection of a load balancer', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  it('is still good after an idle minute', async () => {
    const wire = await openWire(service.url);
    const body = envelope11('HelloWorld');
    const call = [
      `POST ${new URL(service.url).pathname} HTTP/1.1`,
      'Host: localhost',
      'Content-Type: text/xml; charset=utf-8',
      `SOAPAction: "${NAMESPACE}HelloWorld"`,
      `Content-Length: ${String(body.length)}`,
      `\r\n${body}`,
    ].join('\r\n');
    wire.write(call);
    await wire.until(/<\/soap:Envelope>$/);
    // The one wait that no event ends: the test is that nothing happens.
    await new Promise((resolve) => setTimeout(resolve, IDLE));
    wire.write(call);
    const answers = await wire.until(/<\/soap:Envelope>[^]*<\/soap:Envelope>$/);
    expect(answers.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
    wire.socket.destroy();
  }, 90_000);
});
