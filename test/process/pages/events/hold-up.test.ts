import { holdUp } from '../../../support/hold-up';
import { send } from '../../../support/http';
import { startService, type TestService } from '../../../support/service';

/** How long a page may hold up callers, in milliseconds of processor time: where that is dear, as many times what plain text takes. */
const MOST = 50;
const TIMES_PLAIN = 6;

describe('the page of an event with 100 KB', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  /** Records an event, and measures how long opening its page holds up others. */
  async function heldUpBy(type: string, body: string, enough = MOST): Promise<number> {
    const headers = { 'Content-Type': type };
    expect((await send(`${service.url}/RecordEvent`, { method: 'POST', headers, body })).status).toBe(200);
    const { last } = await service.log.stats();
    return holdUp(async () => {
      expect((await send(`${service.url}?event=${String(last)}`)).status).toBe(200);
    }, enough);
  }

  it.each([
    ['XML that is never closed', 'text/xml', '<a>'.repeat(34_000)],
    ['nested XML', 'text/xml', '<a>'.repeat(14_000) + '</a>'.repeat(14_000)],
    ['nested arrays of JSON', 'application/json', '['.repeat(50_000) + ']'.repeat(50_000)],
    ['nested objects of JSON', 'application/json', `${'{"a":'.repeat(16_000)}1${'}'.repeat(16_000)}`],
  ])('of %s holds up callers for no more than 50 ms', async (_what, type, body) => {
    const heldUp = await heldUpBy(type, body);
    const limit = heldUp < MOST ? MOST : TIMES_PLAIN * (await heldUpBy('text/plain', 'x '.repeat(50_000), 0));
    expect(heldUp).toBeLessThan(limit);
  });
});
