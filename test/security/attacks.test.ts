import { send } from '../support/http';
import { startProcess, type ServiceProcess } from '../support/process';
import { temporaryFolder } from '../support/service';
import { KEY, type Attack } from './attacks/attack';
import { HTTP_ATTACKS } from './attacks/http';
import { BODY_ATTACKS, XML_ATTACKS } from './attacks/xml';

/** Each attack once; `test/extra/attacks.test.ts` does them in numbers and measures a client beside them. */
describe('an attack is answered, and the service goes on', () => {
  let service: ServiceProcess;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    folder = await temporaryFolder();
    service = await startProcess({ RECORD_KEYS: KEY, HEADERS_TIMEOUT: '2s', REQUEST_TIMEOUT: '5s' }, folder.path);
  });
  afterAll(async () => {
    await service.end('SIGTERM');
    await folder.remove();
  });

  const attacks: readonly Attack[] = [...XML_ATTACKS, ...BODY_ATTACKS, ...HTTP_ATTACKS];
  it.each(attacks.map((attack) => [attack.name, attack] as const))('%s', async (_name, attack) => {
    const answer = await attack.once(service.url);
    expect(answer.slice(0, 1000)).toMatch(attack.answer);
    expect(answer).not.toMatch(/\n\s+at |node_modules|\.js:\d/);
    expect((await send(`${service.url}/HelloWorld`)).status).toBe(200);
  });
});
