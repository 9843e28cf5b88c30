import { holdUp } from '../../../support/hold-up';
import { send } from '../../../support/http';
import { useService } from '../../../support/service';

/** How long a page may hold up callers, in milliseconds of processor time on an idle machine. */
const MOST = 100;

describe('holds up callers for no more than 100 ms:', () => {
  const service = useService();

  /** Records an event. Resolves to the last position. */
  async function record(type: string, body: string | Buffer): Promise<string> {
    const headers = { 'Content-Type': type };
    expect((await send(`${service.url}/RecordEvent`, { method: 'POST', headers, body })).status).toBe(200);
    const last = await service.log.newest();
    return String(last);
  }

  async function expectShort(query: string): Promise<void> {
    const opened = async () => {
      expect((await send(service.url + query)).status).toBe(200);
    };
    expect(await holdUp(opened, MOST)).toBeLessThan(MOST);
  }

  it.each([
    ['XML that is never closed', 'text/xml', '<a>'.repeat(34_000)],
    ['nested objects of JSON', 'application/json', `${'{"a":'.repeat(16_000)}1${'}'.repeat(16_000)}`],
  ])('the page of an event with 100 KB of %s', async (_what, type, body) => {
    await expectShort(`?event=${await record(type, body)}`);
  });

  const members = Array.from({ length: 350_000 }, (_, i) => `"${String(i)}":1`).join(',');
  it.each([
    ['a text of what cannot be seen', 'text/plain', '\u202E'.repeat(1_300_000)],
    ['JSON with 350,000 members', 'application/json', `{${members}}`],
    ['objects in a list of JSON', 'application/json', `[${'{"a":[1]},'.repeat(350_000)}1]`],
    ['deeply nested JSON', 'application/json', '{"a":['.repeat(250_000) + '1' + ']}'.repeat(250_000)],
    ['bytes', 'application/octet-stream', Buffer.alloc(3_900_000, 0xff)],
  ])('the page of an event with 4 MB of %s', async (_what, type, body) => {
    await expectShort(`?event=${await record(type, body)}`);
  });

  it('the page of an event with an image of 1 MiB', async () => {
    const image = Buffer.alloc(1024 * 1024, 0xff);
    image.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\0\0\0\x04\0', 'latin1');
    await expectShort(`?event=${await record('image/png', image)}`);
  });

  it.each([
    ['all lines', (i: number, of: string) => `${of}${String(i)}`],
    ['lines of two kinds', (i: number, of: string) => (i % (of === 'a' ? 2 : 3) === 0 ? 'x' : 'y')],
    ['the order of their lines', (i: number, of: string) => String((i * (of === 'a' ? 7919 : 104_729)) % 1000)],
  ])('the comparison of events with 4 MB that differ in %s', async (_what, line) => {
    const text = (of: string) => Array.from({ length: 500_000 }, (_, i) => line(i, of)).join('\n');
    const [one, other] = [await record('text/plain', text('a')), await record('text/plain', text('b'))];
    await expectShort(`?event=${one}&with=${other}`);
  });
});
