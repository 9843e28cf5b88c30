import { send } from '../support/http';
import { peakOf, startProcess, type ServiceProcess } from '../support/process';
import { temporaryFolder } from '../support/temporary-folder';
import { KEY, type Attack } from './attacks/attack';

/** The most memory that the process may have with default limits, in bytes. */
const MAX_MEMORY = 512_000_000;

/** Attacks once with each: it gets its answer, which gives nothing away, and others are still served. */
export function describeAttacks(maxRequestBytes: number, attacks: readonly Attack[]): void {
  describe(`with messages of ${String(maxRequestBytes)} bytes, an attack is answered and the service goes on`, () => {
    let service: ServiceProcess;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    beforeAll(async () => {
      folder = await temporaryFolder();
      const limits = { MAX_REQUEST_BYTES: String(maxRequestBytes), REQUEST_TIMEOUT: '2s' };
      // The path of the attacks that are written out.
      service = await startProcess({ SERVICE_ROOT: 'webhooks', RECORD_KEYS: KEY, ...limits }, folder.path);
    });
    afterAll(async () => {
      await service.end('SIGTERM');
      await folder.remove();
    });

    it.each(attacks.map((attack) => [attack.name, attack] as const))('%s', async (_name, attack) => {
      const answer = await attack.once(service.url);
      expect(answer.slice(0, 1000)).toMatch(attack.answer);
      expect(answer).not.toMatch(/\n\s+at |node_modules|\.js:\d/);
      expect((await send(`${service.url}/HelloWorld`)).status).toBe(200);
      if (process.platform === 'linux') expect(await peakOf(service)).toBeLessThan(MAX_MEMORY);
    });
  });
}
