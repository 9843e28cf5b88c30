import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { send } from '../../support/http';
import { startService, type TestService } from '../../support/service';

/** How long a page may hold up callers, in milliseconds of processor time. */
const MOST = 50;
const TRIES = 5;

describe('the page of an event with 100 KB', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  /**
   * Records an event and opens its page: the shortest time in which no caller was answered meanwhile, in milliseconds. Of the time,
   * only the share counts in which this process ran: other programs may have the processor, too.
   */
  async function shortestHoldUp(type: string, body: string): Promise<number> {
    const headers = { 'Content-Type': type };
    expect((await send(`${service.url}/RecordEvent`, { method: 'POST', headers, body })).status).toBe(200);
    const { last } = await service.log.stats();
    const times: number[] = [];
    while (times.length < TRIES) {
      const delay = monitorEventLoopDelay({ resolution: 1 });
      delay.enable();
      // It measures from its first sample on.
      await setTimeout(10);
      const began = performance.now();
      const processor = process.cpuUsage();
      expect((await send(`${service.url}?event=${String(last)}`)).status).toBe(200);
      delay.disable();
      const { user, system } = process.cpuUsage(processor);
      const share = (user + system) / 1000 / (performance.now() - began);
      times.push((delay.max / 1e6) * Math.min(share, 1));
    }
    return Math.min(...times);
  }

  it.each([
    ['XML that is never closed', 'text/xml', '<a>'.repeat(34_000)],
    ['nested XML', 'text/xml', '<a>'.repeat(14_000) + '</a>'.repeat(14_000)],
    ['nested arrays of JSON', 'application/json', '['.repeat(50_000) + ']'.repeat(50_000)],
    ['nested objects of JSON', 'application/json', `${'{"a":'.repeat(16_000)}1${'}'.repeat(16_000)}`],
  ])('of %s holds up callers for no more than 50 ms', async (_what, type, body) => {
    expect(await shortestHoldUp(type, body)).toBeLessThan(MOST);
  });
});
