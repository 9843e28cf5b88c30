import { compare } from '../../../src/cli/compare/compare';
import { HttpClient } from '../../../src/cli/http-client';
import { send } from '../../support/http';
import { startService } from '../../support/service';
import { serving } from '../serving';

it.each([
  ['a difference where the new one alone refuses its caller', 200, 'differences'],
  ['nothing where both refuse their callers', 401, 'failures'],
] as const)('two services that are compared have %s', async (_what, status, told) => {
  const service = await startService();
  const { body: wsdl } = await send(`${service.url}?wsdl`);
  const answering = (callStatus: number) =>
    serving(({ url }, response) => {
      if (url?.endsWith('?wsdl')) response.end(wsdl);
      else response.writeHead(callStatus).end();
    });
  const [old, other] = [await answering(status), await answering(401)];
  const tally = await compare(`${old.href}?wsdl`, `${other.href}?wsdl`, new HttpClient(), () => Promise.resolve());
  expect(tally.calls).toBeGreaterThan(0);
  const { [told]: found } = tally;
  expect(found).toBeGreaterThanOrEqual(tally.calls);
  await service.stop();
});
