import { envelope11, NAMESPACE, resultOf } from '../support/bindings';
import { send } from '../support/http';
import { startService } from '../support/service';

const HELLO = envelope11('HelloWorld');

describe('a repeated message', () => {
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
