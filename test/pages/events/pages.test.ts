import { EventLogError } from '../../../src/log/engine';
import { refusalsView } from '../../../src/pages/events/refusal-view';
import { Deferred } from '../../../src/util/promises';
import { callOperation, requestOf } from '../../support/bindings';
import { eventually } from '../../support/eventually';
import { CLOUD_EVENT, positionsIn, useEventsPages } from '../../support/events-pages';
import { newEvent } from '../../support/events';
import { send } from '../../support/http';
import { metricsAt } from '../../support/metrics';
import { startService } from '../../support/service';
import { openWire } from '../../support/wire';

const { service, get, page, text, record } = useEventsPages();

describe('the pages of the events', () => {
  it('take a quarter of the slots of calls, and give them back, also where a page fails', async () => {
    const small = await startService({ MAX_IN_FLIGHT: '8' });
    const stalled = new Deferred();
    jest.spyOn(small.log, 'search').mockImplementation(async () => {
      await stalled.promise;
      throw new EventLogError('The disk <is> gone.');
    });
    const searches = Array.from({ length: 4 }, () => send(`${small.url}?events`));
    const refused = await Promise.race(searches);
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    expect(refused.body).toContain('more than 2, a quarter of MAX_IN_FLIGHT');
    expect((await send(`${small.url}/HelloWorld`)).status).toBe(200);
    stalled.resolve();
    const failed = (await Promise.all(searches)).filter(({ body }) => body.includes('The disk &lt;is&gt; gone.'));
    expect(failed.map(({ status, headers }) => [status, headers['retry-after']])).toEqual(Array(2).fill([503, '1']));
    expect((await send(`${small.url}?events=refusals`)).body).toContain('The disk &lt;is&gt; gone.');
    await small.stop();
  });

  it('read events for one answer at a time, and none for callers who have gone', async () => {
    const one = await startService();
    const { log, url } = one;
    await log.append(newEvent(), newEvent());
    const going = new Deferred();
    const read = log.scan.bind(log);
    const reads = jest.spyOn(log, 'scan').mockImplementation(async (query) => {
      await going.promise;
      return read(query);
    });
    const wires = await Promise.all([1, 2, 3].map(() => openWire(url)));
    const first = send(`${url}?event=1&with=2`);
    first.catch(() => undefined);
    await eventually('the first is read', () => reads.mock.calls.length === 1);
    for (const [i, wire] of wires.entries())
      wire.write(
        `GET ${new URL(url).pathname}?event=1${['', '&with=2', '&download=data'][i] ?? ''} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      );
    await eventually('others wait', async () => (await metricsAt(url)).get('webhook_calls_in_flight') === 4);
    expect(reads).toHaveBeenCalledTimes(1);
    for (const { socket } of wires) socket.resetAndDestroy();
    await eventually('they have gone', async () => (await metricsAt(url)).get('webhook_connections') === 2);
    going.resolve();
    expect((await first).status).toBe(200);
    expect((await send(`${url}?event=2`)).status).toBe(200);
    expect(reads).toHaveBeenCalledTimes(3);
    await one.stop();
  });

  it('count the events of each minute, hour and day', async () => {
    for (let i = 0; i < 3; i++) await record();
    for (const [per, title, spans] of [
      ['minute', 'last 60 minutes', 60],
      ['hour', 'last 48 hours', 48],
      ['day', 'last 30 days', 30],
    ] as const) {
      const body = await page(`?events=rate&per=${per}`);
      expect(body).toMatch(new RegExp(`<strong>3 events</strong> in the ${title}`));
      expect(body.match(/class="bar" /g)?.length).toBe(spans);
      expect(body.match(/<tr><td>/g)?.length).toBe(spans);
      expect(body.match(/<\/time><\/a> so far<\/td>/g)?.length).toBe(1);
      const counted = [...body.matchAll(/<td class="number">(\d+)<\/td>/g)].map(([, events]) => Number(events));
      expect(counted.reduce((sum, events) => sum + events, 0)).toBe(3);
      const [, href = ''] = /<td><a href="([^"]*)">(?:(?!<tr>)[^])*?<td class="number">3</.exec(body) ?? [];
      expect(positionsIn(await page(href.replaceAll('&amp;', '&')))).toEqual(['3', '2', '1']);
    }
  });

  it('list the calls that were refused: which, when and why, without queries, bodies and secrets', async () => {
    await send(`${service().url}/GetEvents?limit=0&private=1`);
    const secrets = { 'X-Hub-Signature-256': 'private', Authorization: 'Bearer private' };
    const github = { 'User-Agent': 'GitHub/1.0', 'X-GitHub-Event': 'push', 'X-GitHub-Delivery': 'd-17' };
    const others = { 'X-Shop': '<b>7', 'X-Request-Id': 'mine-17' };
    await record('{"private":1}', { ...CLOUD_EVENT, ...secrets, ...github, ...others });
    await send(service().url, { method: 'POST', headers: { 'Content-Type': 'image/<b>' }, body: 'private' });
    const shown = await text('?events=refusals');
    for (const pattern of [
      /415 invalid .* SOAP 1\.1 .* 400 invalid .* POST RecordEvent .* mine-17 .* 400 invalid .* GET GetEvents/,
      /POST RecordEvent \/webhooks\/Services\/WebHooks.asmx\/RecordEvent GitHub\/1.0/,
      /GitHub delivery d-17 .* x-shop +&lt;b&gt;7 .* The parameter limit must be/,
    ])
      expect(shown).toMatch(pattern);
    expect(await page('?events=refusals')).not.toMatch(/private|<b>/);
  });

  it('narrow the refused calls by reason, with those of one caller for one reason in one row', async () => {
    await record('', { 'Sec-Fetch-Site': 'cross-site' });
    for (const name of ['Nope', 'Nope', 'Other', 'Nope']) await send(`${service().url}/${name}`);
    const words = async (query: string) =>
      [...(await page(query)).matchAll(/class="chip">([a-z-]+|\d+ times)</g)].map(([, word]) => word);
    expect(await words('?events=refusals')).toEqual(['invalid', '3 times', 'invalid', 'cross-site']);
    expect(await words('?events=refusals&reason=cross-site')).toEqual(['cross-site']);
    expect(await words('?events=refusals&reason=%3Cb%3E')).toEqual([]);
    expect(await text('?events=refusals&reason=busy')).toContain('None of them has this reason');
  });

  it('show of refused calls in one row the first and the last, and the id by which a sender repeats them', async () => {
    const call = { remoteAddress: '::1', status: undefined, reason: 'busy' };
    const calls = [3, 2, 1, 0].map((time) => ({
      ...call,
      id: String(time),
      time,
      headers: [['ce-id', 'e-17']] as const,
    }));
    Object.assign(calls[3] ?? {}, { remoteAddress: '::2' });
    const view = await refusalsView({ calls, perMinute: new Map() }, 'failed');
    expect(view.calls.map(({ count, since, delivery }) => [count, since.time.slice(-3), delivery])).toEqual([
      [3, '001', '<bdi>e-17</bdi>'],
      [1, '000', '<bdi>e-17</bdi>'],
    ]);
  });

  it('count each refused call', async () => {
    const refusedCalls = async () => /([\d,]+) refused in the last hour/.exec(await text('?events'))?.[1];
    expect(await refusedCalls()).toBe(undefined);
    await record();
    for (let i = 0; i < 120; i++) await send(`${service().url}/Nope`);
    expect(await refusedCalls()).toBe('120');
    expect(await page('?events=refusals')).toContain('<strong id="count">120</strong> refused in the last hour');
    const body = await page('?events=rate');
    expect(body).toContain('120 refused calls</a>');
    expect(body).toMatch(
      /<td class="number">1<\/td><td class="number">120<\/td>|<td class="number">0<\/td><td class="number">\d+<\/td>/,
    );
    const heights = [...body.matchAll(/class="refused" .*? y="([\d.]+)" .*? height="([\d.]+)"/g)];
    expect(heights.length).toBeGreaterThan(0);
    for (const [, y, height] of heights) expect(Number(y) + Number(height)).toBeLessThanOrEqual(160);
  });

  it('allow their own code alone, and lists a connection', async () => {
    const check = async (query: string) => {
      const { status, body, headers } = await get(query);
      expect(body).toMatch(/<title>[^<]+ – WebHook web service<\/title>/);
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        ...(status === 200 && { vary: 'Host, Accept-Encoding' }),
      });
      const policy = String(headers['content-security-policy']);
      expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
      expect(policy).not.toContain('unsafe');
      expect([query, policy.includes("connect-src 'self'")]).toEqual([query, /^\?events(?!=rate)/.test(query)]);
    };
    await record('{"a":[1]}');
    const lists = ['?events', '?events=find&text=b', '?events=rate', '?events=refusals'];
    for (const query of [...lists, '?event=1', '?event=1&with=1', '?event=9']) await check(query);
  });

  it('stay without the documentation, and do not link to it', async () => {
    const other = await startService({ DOCUMENTATION: 'false' });
    await callOperation(other.url, 'httppost', 'RecordEvent');
    for (const query of ['?events', '?event=1']) {
      const { status, body } = await send(other.url + query);
      expect(status).toBe(200);
      expect(body).toContain('class="name" href="WebHooks.asmx?events"');
      expect(body).not.toMatch(/\?(?:wsdl|disco|op=)|>Operations</i);
    }
    await other.stop();
  });

  it.each(['soap11', 'httpget', 'httppost'])('with %s alone offer and say what fits it', async (protocol) => {
    const other = await startService({ PROTOCOLS: protocol });
    const { body } = await send(`${other.url}?events`);
    // Without GET a page does not ask for new events.
    expect(body.includes('id="live"')).toBe(protocol === 'httpget');
    expect(body.includes('id="webhooks"')).toBe(protocol === 'httppost');
    const { path, ...question } = requestOf('httppost', 'RecordEvent');
    await send(other.url + path, question);
    const refusals = (await send(`${other.url}?events=refusals`)).body;
    expect(refusals.includes('HTTP POST is off (PROTOCOLS).')).toBe(protocol !== 'httppost');
    for (const binding of ['soap12', protocol])
      await other.log.append(newEvent({ attributes: JSON.stringify({ type: 't', binding }) }));
    const isRefused = async (sequence: string) =>
      (await send(`${other.url}?event=${sequence}`)).body.includes('This service would refuse it');
    const last = await other.log.newest();
    expect([await isRefused(String(last - 1)), await isRefused(String(last))]).toEqual([true, false]);
    await other.stop();
  });

  it('without a key say how to type it in a browser, and nothing else', async () => {
    const key = { 'X-API-Key': 'read-key-0123456789' };
    const guarded = await startService({ READ_KEYS: key['X-API-Key'], MAX_IN_FLIGHT: '1' });
    // Before a slot is looked for: another caller has the only one.
    const stalled = new Deferred<never>();
    const search = jest.spyOn(guarded.log, 'search').mockReturnValue(stalled.promise);
    const first = send(`${guarded.url}?events`, { headers: key });
    await eventually('the other searches', () => search.mock.calls.length > 0);
    const { status, body } = await send(`${guarded.url}?events`);
    stalled.reject(new Error('stalled'));
    await first;
    expect(status).toBe(401);
    const shown = body.replace(/[^]*<main id="main">|<\/main>[^]*|<[^>]*>/g, '').trim();
    expect(shown.split(/\n\s*/)).toEqual([
      'A key is needed',
      'Reload this page, and when the browser asks, type any name, and one of the READ_KEYS as the password.',
    ]);
    await guarded.stop();
  });
});
