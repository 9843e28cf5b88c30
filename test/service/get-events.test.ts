import { gunzipSync } from 'node:zlib';
import { request } from 'node:http';
import { BINDINGS, callOperation, eventsOf, requestOf, resultOf, type CloudEvent } from '../support/bindings';
import { send } from '../support/http';
import { expectNothingHeld } from '../support/nothing-held';
import { startService, type TestService } from '../support/service';
import { getEvents } from '../support/waiting';

describe('GetEvents', () => {
  let service: TestService;
  beforeEach(async () => {
    service = await startService();
  });
  afterEach(() => expectNothingHeld(service));

  const record = async (body: string, type = 'text/plain') =>
    resultOf(await send(`${service.url}/RecordEvent`, { method: 'POST', headers: { 'Content-Type': type }, body }));
  const get = async (query = '') => eventsOf(await callOperation(service.url, 'httpget', `GetEvents?${query}&`));

  it('takes after, limit and id from the query over GET, and from the form or the query over POST', async () => {
    const ids = [];
    for (let i = 0; i < 5; i++) ids.push(await record(String(i)));
    const all = await get();
    const after = all[1]?.sequence ?? '';
    expect((await get(`after=${after}&limit=2`)).map(({ id }) => id)).toEqual(ids.slice(2, 4));
    expect((await get('limit=2')).map(({ id }) => id)).toEqual(ids.slice(3));
    expect((await get(`id=${ids[2] ?? ''}`)).map(({ data }) => data)).toEqual(['2']);
    for (const [path, body] of [
      ['/GetEvents', `after=${after}&limit=1`],
      [`/GetEvents?after=${after}`, 'limit=1'],
    ]) {
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const answer = await send(service.url + String(path), { method: 'POST', headers, body: String(body) });
      expect(eventsOf(resultOf(answer)).map(({ id }) => id)).toEqual([ids[2]]);
    }
  });

  it('reads the other parameters beside one that it does not know and that is not text', async () => {
    await record('1');
    await record('2');
    expect(await get('limit=1&x=%FF')).toHaveLength(1);
    expect(await get('%FF=%FF&limit=1')).toHaveLength(1);
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const answer = await send(`${service.url}/GetEvents?limit=1`, { method: 'POST', headers, body: 'x=%FF' });
    expect(eventsOf(resultOf(answer))).toHaveLength(1);
  });

  it('takes a parameter from the form rather than from the query', async () => {
    for (const body of ['1', '2', '3']) await record(body);
    const post = (path: string, body: string) =>
      send(service.url + path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body,
      });
    expect(eventsOf(resultOf(await post('/GetEvents?limit=3', 'limit=1')))).toHaveLength(1);
    expect(eventsOf(resultOf(await post('/GetEvents?limit=x', 'limit=2')))).toHaveLength(2);
    expect((await post('/GetEvents?limit=3', 'limit=x')).status).toBe(400);
  });

  it.each(['application/json', 'application/x-www-form-urlencoded'])(
    'takes parameters from JSON as %s',
    async (type) => {
      await record('1');
      await record('2');
      const post = async (body: string) =>
        eventsOf(
          resultOf(await send(`${service.url}/GetEvents`, { method: 'POST', headers: { 'Content-Type': type }, body })),
        );
      expect(await post('{"limit":1}')).toHaveLength(1);
      expect(await post('{"after":"0","limit":null}')).toHaveLength(2);
      expect(await post('{"a":"&limit=1&id=x&b"}')).toHaveLength(2);
    },
  );

  it('refuses a form with too many fields', async () => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const body = `${'a&'.repeat(10_001)}limit=1`;
    expect((await send(`${service.url}/GetEvents`, { method: 'POST', headers, body })).status).toBe(400);
  });

  it.each(['soap11', 'soap12'] as const)(
    'takes parameters over %s, so that a poller misses nothing',
    async (binding) => {
      const ids = [];
      for (let i = 0; i < 5; i++) ids.push(await record(String(i)));
      const read = async (inside: string) => eventsOf(await callOperation(service.url, binding, 'GetEvents', inside));
      const found: string[] = [];
      for (let after = '0'; ;) {
        const page = await read(`<limit>2</limit><after>${after}</after>`);
        expect(page.length).toBeLessThanOrEqual(2);
        found.push(...page.map(({ id }) => id));
        const last = page.at(-1);
        if (last === undefined) break;
        after = last.sequence;
      }
      expect(found).toEqual(ids);
      expect((await read(`<id>${ids[1] ?? ''}</id>`)).map(({ data }) => data)).toEqual(['1']);
      expect(await read('')).toHaveLength(5);
    },
  );

  it.each([
    ['<limit>ten</limit>', 'Cannot convert ten to System.Int32.'],
    ['<limit>101</limit>', 'The parameter limit must be a whole number from 1 to 100.'],
    ['<after>x</after>', 'The parameter after must be a sequence: up to 20 digits.'],
    ['<id/>', 'The parameter id must be given with a value.'],
    ['<id><b/></id>', 'The parameter id must be text, without XML elements in it.'],
  ])('refuses %s over SOAP: %s', async (inside, message) => {
    const { path, ...question } = requestOf('soap12', 'GetEvents', inside);
    const answer = await send(service.url + path, question);
    expect([answer.status, answer.body.includes('soap:Sender')]).toEqual([500, true]);
    expect(answer.body).toContain(`Server was unable to read request. ---&gt; ${message}`);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['after=-1', 'after'],
    ['sequence=x', 'sequence'],
    ['after=1.5', 'after'],
    ['after=', 'after'],
    ['id=', 'id'],
    ['id=%FF', 'id'],
    ['id=a%C0%A0', 'id'],
    ['after=%FF', 'after'],
    ['x=%FF&limit=0', 'limit'],
  ])('refuses ?%s with 400 and the name', async (query, name) => {
    const answer = await send(`${service.url}/GetEvents?${query}`);
    expect([answer.status, answer.headers['content-type']]).toEqual([400, 'text/plain; charset=utf-8']);
    expect(answer.body).toMatch(new RegExp(`^The parameter ${name} must be `));
  });

  it('refuses a limit that is not a number with 400, name and type', async () => {
    const answer = await send(`${service.url}/GetEvents?limit=ten`);
    expect([answer.status, answer.headers['content-type']]).toEqual([400, 'text/plain; charset=utf-8']);
    expect(answer.body).toBe(
      'Cannot convert ten to System.Int32.\nParameter name: limit ---> Input string was not in a correct format.\n',
    );
  });

  it('brings each of 101 events once, a hundred at a time', async () => {
    const count = 101;
    const ids = Array.from({ length: count }, (_, i) => `e${String(i)}`);
    const batch = ids.map((id) => ({ specversion: '1.0', id, source: '/s', type: 't' }));
    const headers = { 'Content-Type': 'application/cloudevents-batch+json' };
    await send(`${service.url}/RecordEvent`, { method: 'POST', headers, body: JSON.stringify(batch) });
    for (const binding of BINDINGS) {
      const newest = eventsOf(await callOperation(service.url, binding, 'GetEvents'));
      expect(newest.map(({ id }) => id)).toEqual(ids.slice(-100));
      const pages: string[][] = [];
      for (let after = '0'; ;) {
        const page = eventsOf(resultOf(await getEvents(service.url, binding, { after })));
        if (page.length === 0) break;
        pages.push(page.map(({ id }) => id));
        after = page.at(-1)?.sequence ?? '';
      }
      expect(pages).toEqual(
        Array.from({ length: Math.ceil(count / 100) }, (_, i) => ids.slice(i * 100, i * 100 + 100)),
      );
    }
  });

  it('pages through 60 events of 50 KB in at most 60,000 bytes each, and dataref leads to the data left out', async () => {
    const bodies = new Map<string, string>();
    for (let i = 0; i < 60; i++) {
      // Every third is so full of markup that it does not fit alone.
      const body = (i % 3 === 0 ? '<&>' : 'abc').repeat(50_000 / 3) + String(i);
      bodies.set(await record(body), body);
    }
    for (const binding of BINDINGS) {
      const { path, ...question } = requestOf(binding, 'GetEvents');
      const answer = await send(service.url + path, question);
      expect(answer.status).toBe(200);
      expect(Buffer.byteLength(answer.body)).toBeLessThanOrEqual(60_000);
    }
    const found = new Map<string, unknown>();
    let last: CloudEvent | undefined;
    let references = 0;
    for (;;) {
      const answer = await send(`${service.url}/GetEvents?after=${last?.sequence ?? '0'}`);
      expect(Buffer.byteLength(answer.body)).toBeLessThanOrEqual(60_000);
      const page = eventsOf(resultOf(answer));
      if (page.length === 0) break;
      for (const event of page) {
        expect('data' in event).toBe(!('dataref' in event));
        if ('data' in event) found.set(event.id, event.data);
        else {
          references++;
          const [whole, ...others] = eventsOf(resultOf(await send(String(event.dataref))));
          expect(others).toEqual([]);
          expect(whole?.sequence).toBe(event.sequence);
          found.set(event.id, whole?.data);
        }
      }
      last = page.at(-1);
    }
    expect(references).toBe(20);
    expect(found.size).toBe(60);
    for (const [id, body] of bodies) expect(found.get(id) === body).toBe(true);
  });

  it('fills GET_EVENTS_MAX_BYTES without ever exceeding it', async () => {
    await service.stop();
    service = await startService({ GET_EVENTS_MAX_BYTES: '40000', GET_EVENTS_LIMIT: '10000' });
    for (let i = 0; i < 300; i++) await callOperation(service.url, 'httpget', `RecordEvent?<>&=${String(i)}&`);
    for (const binding of BINDINGS) {
      const { path, ...question } = requestOf(binding, 'GetEvents');
      const bytes = Buffer.byteLength((await send(service.url + path, question)).body);
      expect(bytes).toBeLessThanOrEqual(40_000);
      expect(bytes).toBeGreaterThan(38_000);
    }
  });

  it('lists an event whose attributes alone have more bytes, so that a reader can go on', async () => {
    await service.stop();
    service = await startService({ GET_EVENTS_MAX_BYTES: '8000' });
    const headers = { 'Content-Type': 'application/cloudevents+json' };
    for (const id of ['long', 'next']) {
      const event = {
        specversion: '1.0',
        id,
        source: '/s',
        type: 't',
        subject: id === 'long' ? 's'.repeat(8000) : 's',
      };
      const { status } = await send(`${service.url}/RecordEvent`, {
        method: 'POST',
        headers,
        body: JSON.stringify(event),
      });
      expect(status).toBe(200);
    }
    const after = async (sequence: number) =>
      eventsOf(resultOf(await send(`${String(service.url)}/GetEvents?after=${String(sequence)}`))).map(({ id }) => id);
    expect(await after(0)).toEqual(['long']);
    expect(await after(1)).toEqual(['next']);
  });

  it('counts long ids outside ASCII as the bytes that they take, and refers to each event whole', async () => {
    await service.stop();
    service = await startService({ GET_EVENTS_MAX_BYTES: '40000' });
    const headers = { 'Content-Type': 'application/cloudevents+json' };
    const idOf = (i: number) => `${String(i)}/${'€'.repeat(1000)}`;
    for (let i = 0; i < 20; i++) {
      const event = { specversion: '1.0', id: idOf(i), source: '/s', type: 't', data: 'x'.repeat(50_000) };
      await send(`${service.url}/RecordEvent`, { method: 'POST', headers, body: JSON.stringify(event) });
    }
    const answer = await send(`${service.url}/GetEvents`);
    const bytes = Buffer.byteLength(answer.body);
    expect(bytes).toBeLessThanOrEqual(40_000);
    const listed = eventsOf(resultOf(answer));
    // One more would not fit.
    expect(bytes + bytes / listed.length).toBeGreaterThan(40_000);
    for (const { id, dataref } of listed) {
      const [whole, ...others] = eventsOf(resultOf(await send(String(dataref))));
      expect([whole?.id === id, String(whole?.data).length, others]).toEqual([true, 50_000, []]);
    }
  });

  it('refers to one event only, where another source sent one with its id', async () => {
    const headers = { 'Content-Type': 'application/cloudevents+json' };
    const event = { specversion: '1.0', id: 'same', type: 't', data: 'x'.repeat(70_000) };
    for (const source of ['/a', '/b']) {
      const body = JSON.stringify({ ...event, source });
      await send(`${service.url}/RecordEvent`, { method: 'POST', headers, body });
    }
    for (const { source, dataref } of await get()) {
      const whole = eventsOf(resultOf(await send(String(dataref))));
      expect(whole.map((one) => [one.source, 'data' in one])).toEqual([[source, true]]);
    }
    expect(eventsOf(resultOf(await send(`${service.url}/GetEvents?sequence=${'9'.repeat(20)}`)))).toEqual([]);
  });

  it('refers to the whole event even if the sender sent a dataref of its own', async () => {
    const event = {
      dataref: 'https://elsewhere/',
      specversion: '1.0',
      ...{ id: 'big/ä', source: '/s', type: 't', subject: '"dataref":"https://else/"' },
      data: 'x'.repeat(70_000),
    };
    const headers = { 'Content-Type': 'application/cloudevents+json' };
    await send(`${service.url}/RecordEvent`, { method: 'POST', headers, body: JSON.stringify(event) });
    const raw = await callOperation(service.url, 'httpget', 'GetEvents');
    expect(raw.match(/"dataref"/g)).toHaveLength(1);
    expect(raw).not.toContain('elsewhere');
    const [listed] = eventsOf(raw);
    expect(listed?.data).toBeUndefined();
    const [whole] = eventsOf(resultOf(await send(String(listed?.dataref))));
    expect(whole).toMatchObject(event);
    // As references were written before: to the id after a position.
    expect((await get(`id=${encodeURIComponent(event.id)}&after=0&limit=1`))[0]).toMatchObject(event);
  });

  it('is compressed if the caller accepts gzip', async () => {
    for (let i = 0; i < 20; i++) await record(String(i));
    const plain = await send(`${service.url}/GetEvents`);
    const { headers, body } = await new Promise<{ headers: NodeJS.Dict<string | string[]>; body: Buffer }>(
      (resolve, reject) => {
        request(
          `${service.url}/GetEvents`,
          { agent: false, headers: { 'Accept-Encoding': 'br, gzip' } },
          (response) => {
            const chunks: Buffer[] = [];
            response.on('data', (chunk: Buffer) => chunks.push(chunk));
            response.on('end', () => {
              resolve({ headers: response.headers, body: Buffer.concat(chunks) });
            });
          },
        )
          .on('error', reject)
          .end();
      },
    );
    expect(headers['content-encoding']).toBe('gzip');
    expect(headers.vary).toBe('Accept, Accept-Encoding');
    expect(headers['content-length']).toBe(String(body.length));
    expect(body.length).toBeLessThan(plain.body.length / 2);
    expect(gunzipSync(body).toString()).toBe(plain.body);
  });

  it.each(['identity', 'gzip;q=0, identity', 'deflate'])(
    'is not compressed with Accept-Encoding: %s',
    async (accepted) => {
      for (let i = 0; i < 20; i++) await record(String(i));
      const answer = await send(`${service.url}/GetEvents`, { headers: { 'Accept-Encoding': accepted } });
      expect(answer.headers['content-encoding']).toBeUndefined();
      expect(eventsOf(resultOf(answer))).toHaveLength(20);
    },
  );
});
