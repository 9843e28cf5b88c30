import { EventLogError } from '../../src/log/engine';
import { BINDINGS, callOperation, eventsOf, resultOf } from '../support/bindings';
import { send, type Answer } from '../support/http';
import { metricsAt } from '../support/metrics';
import { forgetAll } from '../support/events';
import { expectNothingHeld, expectNothingHeldAfterEach } from '../support/nothing-held';
import { startService, useService, type TestService } from '../support/service';
import { getEvents, untilWaiting } from '../support/waiting';
import { openWire, PATH, request } from '../support/wire';

describe('GetEvents with wait', () => {
  const service = useService();
  afterEach(() => forgetAll(service.log));
  afterAll(() => expectNothingHeld(service));

  const record = () => callOperation(service.url, 'httpget', 'RecordEvent');
  /** Records an event, and returns its position. */
  const position = async () => {
    await record();
    return eventsOf(resultOf(await get(''))).at(-1)?.sequence ?? '';
  };
  const get = (query: string) => send(`${service.url}/GetEvents?${query}`);

  it.each(BINDINGS)('over %s is answered as soon as there is an event after the position', async (binding) => {
    const answer = getEvents(service.url, binding, { after: await position(), wait: '60s' });
    await untilWaiting(service.url, 1);
    const id = await record();
    expect(eventsOf(resultOf(await answer)).map((event) => event.id)).toEqual([id]);
    await untilWaiting(service.url, 0);
  });

  it('without after waits only while the log is empty', async () => {
    const first = get('wait=1m');
    await untilWaiting(service.url, 1);
    const id = await record();
    expect(eventsOf(resultOf(await first)).map((event) => event.id)).toEqual([id]);
    expect(eventsOf(resultOf(await get('wait=1m')))).toHaveLength(1);
  });

  it.each([
    ['wait=20', 'a duration of at most 60s, as in 20s or 500ms'],
    ['wait=61s', 'a duration of at most 60s, as in 20s or 500ms'],
    ['wait=1s&id=x', 'given without the parameters id and sequence'],
    ['wait=0s&sequence=1', 'given without the parameters id and sequence'],
  ])('refuses ?%s', async (query, allowed) => {
    const answer = await get(query);
    expect([answer.status, answer.body]).toEqual([400, `The parameter wait must be ${allowed}.\n`]);
  });

  it('does not count as a call in flight, and its waiting not as time of the call', async () => {
    const labels = '{binding="httpget",operation="GetEvents",outcome="ok"}';
    const timeOf = async () => (await metricsAt(service.url)).get(`webhook_call_duration_seconds_sum${labels}`) ?? 0;
    const before = await timeOf();
    const began = performance.now();
    const answer = get('after=0&wait=300ms');
    await untilWaiting(service.url, 1);
    expect((await metricsAt(service.url)).get('webhook_calls_in_flight')).toBe(0);
    await answer;
    const seconds = (performance.now() - began) / 1000;
    expect((await timeOf()) - before).toBeLessThan(seconds - 0.25);
  });
});

describe('a service in which calls wait', () => {
  expectNothingHeldAfterEach();
  let service: TestService;

  /** Lets calls wait, each as soon as the one before does. */
  const waiting = async (calls: number, call: (i: number) => Promise<Answer>): Promise<Promise<Answer>[]> => {
    const answers: Promise<Answer>[] = [];
    for (let i = 0; i < calls; i++) {
      answers.push(call(i));
      await untilWaiting(service.url, i + 1);
    }
    return answers;
  };

  it('answers a large message although the call that waits has a large one too, and has memory for it', async () => {
    service = await startService({ MAX_REQUEST_BYTES: '1048576', MAX_BODY_MEMORY: '1048576' });
    const large = 'x'.repeat(900_000);
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const body = `after=0&wait=20s&x=${large}`;
    const answers = await waiting(3, () => send(`${service.url}/GetEvents`, { method: 'POST', headers, body }));
    expect(resultOf(await getEvents(service.url, 'soap11', { after: '0', wait: '300ms', x: large }))).toBe('[]');
    const recorded = await send(`${service.url}/RecordEvent`, { method: 'POST', body: large });
    expect(recorded.status).toBe(200);
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
  });

  it('answers them at once when it stops, and says that the connections end', async () => {
    service = await startService();
    const answers = await waiting(4, (i) =>
      getEvents(service.url, BINDINGS[i] ?? 'soap11', { after: '0', wait: '60s' }),
    );
    const wire = await openWire(service.url);
    wire.write(request(`GET ${PATH}/GetEvents?wait=60s`));
    await untilWaiting(service.url, 5);
    await service.stop();
    for (const answer of await Promise.all(answers)) expect([answer.status, resultOf(answer)]).toEqual([200, '[]']);
    const last = await wire.untilClosed();
    expect(last).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n[^]*>\[\]</);
  });

  it('leaves them alone whatever its other time limits are', async () => {
    service = await startService({ REQUEST_TIMEOUT: '100ms' });
    const began = performance.now();
    const answer = await getEvents(service.url, 'soap12', { after: '0', wait: '400ms' });
    expect([answer.status, resultOf(answer)]).toEqual([200, '[]']);
    expect(performance.now() - began).toBeGreaterThan(390);
  });

  it('tells them why the log cannot be read when they are woken', async () => {
    service = await startService();
    const [answer] = await waiting(1, () => getEvents(service.url, 'httpget', { after: '0', wait: '20s' }));
    jest.spyOn(service.log, 'read').mockRejectedValue(new EventLogError('The events could not be read.'));
    await callOperation(service.url, 'soap11', 'RecordEvent');
    expect([(await answer)?.status, (await answer)?.body]).toEqual([503, 'The events could not be read.\n']);
    expect((await metricsAt(service.url)).get('webhook_calls_in_flight')).toBe(0);
  });
});
