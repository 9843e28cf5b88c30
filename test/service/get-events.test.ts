import { gunzipSync } from 'node:zlib';
import { ask, BINDINGS, callOperation, eventsOf, post, resultOf, type BindingName } from '../support/bindings';
import { forgetAll } from '../support/events';
import { send } from '../support/http';
import { startService, useService } from '../support/service';
import { getEvents, untilWaiting } from '../support/waiting';

const event = (more: object) => ({ specversion: '1.0', source: '/s', type: 't', ...more });
const recordEvent = (url: string, more: object) =>
  post(url, JSON.stringify(event(more)), { 'Content-Type': 'application/cloudevents+json' });

describe('GetEvents', () => {
  const service = useService();
  afterEach(() => forgetAll(service.log));

  const record = async (body: string) => resultOf(await post(service.url, body, { 'Content-Type': 'text/plain' }));
  const recordBatch = (events: readonly object[]) =>
    post(service.url, JSON.stringify(events.map(event)), { 'Content-Type': 'application/cloudevents-batch+json' });
  const get = async (query = '') => eventsOf(await callOperation(service.url, 'httpget', `GetEvents?${query}&`));

  it('takes after, limit and id from the query over GET, and from the form or the query over POST', async () => {
    const ids = [];
    for (let i = 0; i < 5; i++) ids.push(await record(String(i)));
    const after = (await get())[1]?.sequence ?? '';
    expect((await get(`after=${after}&limit=2&x=%FF`)).map(({ id }) => id)).toEqual(ids.slice(2, 4));
    expect((await get('limit=2')).map(({ id }) => id)).toEqual(ids.slice(3));
    expect((await get(`id=${ids[2] ?? ''}`)).map(({ data }) => data)).toEqual(['2']);
    for (const [path, body] of [
      ['/GetEvents?limit=x', `after=${after}&limit=1&x=%FF`],
      [`/GetEvents?after=${after}`, 'limit=1'],
    ]) {
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const answer = await send(service.url + String(path), { method: 'POST', headers, body: String(body) });
      expect(eventsOf(resultOf(answer)).map(({ id }) => id)).toEqual([ids[2]]);
    }
  });

  it.each([
    ['<limit>101</limit>', 'The parameter limit must be a whole number from 1 to 100.'],
    ['<after>x</after>', 'The parameter after must be a sequence: up to 20 digits.'],
    ['<id/>', 'The parameter id must be given with a value.'],
  ])('refuses %s over SOAP: %s', async (inside, message) => {
    const answer = await ask(service.url, 'soap12', 'GetEvents', { inside });
    expect([answer.status, answer.body.includes('soap:Sender')]).toEqual([500, true]);
    expect(answer.body).toContain(`Server was unable to read request. ---&gt; ${message}`);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['after=-1', 'after'],
    ['after=', 'after'],
    ['sequence=x', 'sequence'],
    ['id=', 'id'],
    ['id=%FF', 'id'],
    ['type=', 'type'],
    ['type=a&id=b', 'type'],
    ['type=a&sequence=1', 'type'],
  ])('refuses ?%s with 400 and the name', async (query, name) => {
    const answer = await send(`${service.url}/GetEvents?${query}`);
    expect([answer.status, answer.headers['content-type']]).toEqual([400, 'text/plain; charset=utf-8']);
    expect(answer.body).toMatch(new RegExp(`^The parameter ${name} must be `));
  });

  it('brings the newest hundred of 101 events', async () => {
    const ids = Array.from({ length: 101 }, (_, i) => `e${String(i)}`);
    await recordBatch(ids.map((id) => ({ id })));
    expect((await get()).map(({ id }) => id)).toEqual(ids.slice(-100));
    expect((await get('after=0')).map(({ id }) => id)).toEqual(ids.slice(0, 100));
  });

  it('pages through 30 events of 50 KB in at most 60,000 bytes each, and dataref leads to the data left out', async () => {
    const bodies = new Map<string, string>();
    for (let i = 0; i < 30; i++) {
      // Every third is so full of markup that it does not fit alone.
      const body = (i % 3 === 0 ? '<&>' : 'abc').repeat(50_000 / 3) + String(i);
      bodies.set(await record(body), body);
    }
    const found = new Map<string, unknown>();
    let references = 0;
    for (let after: string | undefined = '0'; after !== undefined;) {
      const answer = await send(`${service.url}/GetEvents?after=${after}`);
      expect(Buffer.byteLength(answer.body)).toBeLessThanOrEqual(60_000);
      const page = eventsOf(resultOf(answer));
      for (const one of page) {
        expect('data' in one).toBe(!('dataref' in one));
        if ('dataref' in one) references++;
        const [whole, ...others] = 'data' in one ? [one] : eventsOf(resultOf(await send(String(one.dataref))));
        expect([whole?.sequence, others]).toEqual([one.sequence, []]);
        found.set(one.id, whole?.data);
      }
      after = page.at(-1)?.sequence;
    }
    expect(references).toBe(10);
    expect(found.size).toBe(30);
    for (const [id, body] of bodies) expect(found.get(id) === body).toBe(true);
  });

  it('refers to one event only, where another source sent one with its id', async () => {
    for (const source of ['/a', '/b']) await recordEvent(service.url, { id: 'same', source, data: 'x'.repeat(70_000) });
    for (const { source, dataref } of await get()) {
      const whole = eventsOf(resultOf(await send(String(dataref))));
      expect(whole.map((one) => [one.source, 'data' in one])).toEqual([[source, true]]);
    }
    expect(await get(`sequence=${'9'.repeat(20)}`)).toEqual([]);
  });

  it('refers to the whole event even if the sender sent a dataref of its own', async () => {
    const subject = '"dataref":"https://else/"';
    const big = { dataref: 'https://elsewhere/', id: 'big/ä', subject, data: 'x'.repeat(70_000) };
    await recordEvent(service.url, big);
    const raw = await callOperation(service.url, 'httpget', 'GetEvents');
    expect(raw.match(/"dataref"/g)).toHaveLength(1);
    expect(raw).not.toContain('elsewhere');
    const [listed] = eventsOf(raw);
    expect(listed?.data).toBeUndefined();
    expect(eventsOf(resultOf(await send(String(listed?.dataref))))).toMatchObject([big]);
    // As references were written before: to the id after a position.
    expect(await get(`id=${encodeURIComponent(big.id)}&after=0&limit=1`)).toMatchObject([big]);
  });

  it.each(BINDINGS)('over %s is compressed if the caller accepts gzip', async (binding) => {
    for (let i = 0; i < 20; i++) await record(String(i));
    const accepting = (Accept: string) => ({ headers: { 'Accept-Encoding': Accept } });
    const plain = await ask(service.url, binding, 'GetEvents', accepting('gzip;q=0, identity'));
    const { headers, bytes } = await ask(service.url, binding, 'GetEvents', accepting('br, gzip'));
    expect([headers['content-encoding'], headers.vary]).toEqual(['gzip', expect.stringMatching(/\bAccept-Encoding$/)]);
    expect(headers['content-length']).toBe(String(bytes.length));
    expect(bytes.length).toBeLessThan(plain.body.length / 2);
    expect(gunzipSync(bytes).toString()).toBe(plain.body);
    expect((await ask(service.url, binding, 'GetEvents')).headers.vary).toBe(headers.vary);
    expect(eventsOf(resultOf(plain))).toHaveLength(20);
  });

  const found = async (binding: BindingName, parameters: Readonly<Record<string, string>>) =>
    eventsOf(resultOf(await getEvents(service.url, binding, parameters))).map(({ id }) => id);
  const sequences = async () => (await get()).map(({ sequence }) => sequence);
  const recordTypes = (...types: readonly string[]) =>
    recordBatch(types.map((type, i) => ({ id: `${type}${String(i + 1)}`, type })));

  it.each(BINDINGS)('over %s returns the events of a type, with after and limit', async (binding) => {
    await recordTypes('a', 'b', 'a', 'a', 'ab', 'b', 'a');
    const [first = '', last = ''] = [(await sequences())[0], (await sequences()).at(-1)];
    expect(await found(binding, { type: 'a' })).toEqual(['a1', 'a3', 'a4', 'a7']);
    expect(await found(binding, { type: 'a', limit: '2' })).toEqual(['a4', 'a7']);
    expect(await found(binding, { type: 'a', limit: '2', after: first })).toEqual(['a3', 'a4']);
    expect(await found(binding, { type: 'a', after: last })).toEqual([]);
  });

  it.each(['', 'after'])('waits until there is an event of the type: %j', async (name) => {
    await recordTypes('b', 'c');
    const [after = ''] = (await sequences()).slice(-1);
    const answer = found('httpget', { type: 'a', wait: '20s', ...(name && { after }) });
    await untilWaiting(service.url, 1);
    await recordTypes('b', 'c', 'b');
    await untilWaiting(service.url, 1);
    await recordTypes('b', 'a');
    expect(await answer).toEqual(['a2']);
  });

  it.each(BINDINGS)('over %s refuses a name that is no parameter, and names those that there are', async (binding) => {
    const answer = await getEvents(service.url, binding, { types: 'x', limit: '1' });
    expect(answer.status).toBe(binding.startsWith('soap') ? 500 : 400);
    expect(answer.body).toContain(
      'There is no parameter types. The parameters are after, limit, id, sequence, wait, type.',
    );
  });

  it('refuses such names among the members of JSON, too, and ignores other names', async () => {
    const headers = { 'Content-Type': 'application/json' };
    const statusOf = async (fields: string) =>
      (await ask(service.url, 'httppost', 'GetEvents', { fields, headers })).status;
    const filters = 'Type eventType binding text sender header source subject filter before since until from to';
    for (const name of filters.split(' ')) expect([name, await statusOf(`{"${name}":"x"}`)]).toEqual([name, 400]);
    expect(await statusOf('{"colour":"x"}')).toBe(200);
    expect(await callOperation(service.url, 'soap12', 'GetEvents', '<colour>x</colour>')).toBe('[]');
  });
});

describe('GetEvents with GET_EVENTS_MAX_BYTES', () => {
  it('fills it without ever exceeding it', async () => {
    const namespace = `urn:${'é&'.repeat(200)}`;
    const limits = { GET_EVENTS_MAX_BYTES: '40000', GET_EVENTS_LIMIT: '10000' };
    const { url } = await startService({ ...limits, SERVICE_NAMESPACE: namespace });
    for (let i = 0; i < 100; i++) await callOperation(url, 'httpget', `RecordEvent?${`<>&=${String(i)}&`.repeat(20)}`);
    for (const binding of BINDINGS) {
      const bytes = Buffer.byteLength((await ask(url, binding, 'GetEvents', { namespace })).body);
      expect(bytes).toBeLessThanOrEqual(40_000);
      expect(bytes).toBeGreaterThan(38_000);
    }
  });

  it('lists an event whose attributes alone have more bytes, so that a reader can go on', async () => {
    const { url } = await startService({ GET_EVENTS_MAX_BYTES: '8000' });
    await recordEvent(url, { id: 'long', subject: '€'.repeat(2700) });
    await recordEvent(url, { id: 'next' });
    const after = async (sequence: string) =>
      eventsOf(resultOf(await getEvents(url, 'httpget', { after: sequence }))).map(({ id }) => id);
    expect(await after('0')).toEqual(['long']);
    expect(await after('1')).toEqual(['next']);
  });
});
