import { BUILD } from '../../src/util/program';
import { REFUSALS } from '../../src/http/errors';
import { ask, BINDINGS, callOperation } from '../support/bindings';
import { send } from '../support/http';
import { idleMetrics, metricsAt } from '../support/metrics';
import { startService, useService } from '../support/service';

const calls = (binding: string, operation: string, outcome: string) =>
  `webhook_call_duration_seconds_count{binding="${binding}",operation="${operation}",outcome="${outcome}"}`;

describe('GET /metrics', () => {
  const service = useService();

  it('has a series for each reason before the first refusal', async () => {
    const metrics = await metricsAt(service.url);
    expect(REFUSALS.map((reason) => metrics.get(`webhook_refusals_total{reason="${reason}"}`))).toEqual(
      REFUSALS.map(() => 0),
    );
  });

  it('counts calls by binding, operation and outcome', async () => {
    for (const binding of BINDINGS) {
      await callOperation(service.url, binding, 'HelloWorld');
      await ask(service.url, binding, 'Nothing');
    }
    await send(`${service.url}/GetEvents?limit=none`);
    const metrics = await metricsAt(service.url);
    for (const binding of BINDINGS) {
      expect(metrics.get(calls(binding, 'HelloWorld', 'ok'))).toBe(1);
      expect(metrics.get(calls(binding, 'unknown', 'refused'))).toBe(1);
    }
    expect(metrics.get(calls('httpget', 'GetEvents', 'refused'))).toBe(1);
    expect(metrics.get('webhook_refusals_total{reason="invalid"}')).toBe(5);
  });

  it('counts events, duplicates and commits, and shows the size of the log', async () => {
    for (let i = 0; i < 3; i++) {
      await callOperation(service.url, 'httpget', 'RecordEvent', '', { 'Idempotency-Key': 'the same' });
    }
    const { bytes } = await service.log.stats();
    expect(bytes).toBeGreaterThan(0);
    expect(Object.fromEntries(await metricsAt(service.url))).toMatchObject({
      webhook_events_recorded_total: 1,
      webhook_events_duplicate_total: 2,
      webhook_commit_events_sum: 3,
      webhook_commit_duration_seconds_count: 3,
      webhook_log_events: 1,
      webhook_log_bytes: bytes,
      webhook_calls_in_flight: 0,
      webhook_calls_waiting: 0,
      webhook_connections: 1,
      webhook_ready: 1,
      [`webhook_build_info{version="${BUILD.version}",commit="${BUILD.commit}"}`]: 1,
    });
  });

  it('times a call and its commit in seconds, as a clock here does', async () => {
    const start = performance.now();
    for (let i = 0; i < 10; i++) await callOperation(service.url, 'soap11', 'RecordEvent');
    const seconds = (performance.now() - start) / 1000;
    const metrics = await metricsAt(service.url);
    const sum = metrics.get(calls('soap11', 'RecordEvent', 'ok').replace('_count', '_sum'));
    expect(sum).toBeGreaterThan(0);
    expect(sum).toBeLessThan(seconds);
    expect(metrics.get('webhook_commit_duration_seconds_sum')).toBeLessThan(2 * seconds);
  });

  it('counts a failed call as failed', async () => {
    const failing = await startService();
    await failing.log.close();
    expect((await send(`${failing.url}/RecordEvent`)).status).toBe(503);
    const metrics = await metricsAt(failing.url);
    expect(metrics.get(calls('httpget', 'RecordEvent', 'failed'))).toBe(1);
    expect(metrics.get('webhook_ready')).toBe(0);
  });

  it('is only on ADMIN_PORT where that is set, and health on both', async () => {
    const apart = await startService({ ADMIN_PORT: '0', READ_KEYS: 'read-key-0123456789' });
    const admin = apart.adminUrl ?? '';
    expect((await metricsAt(admin)).get('webhook_ready')).toBe(1);
    expect((await send(new URL('/metrics', apart.url).href)).status).toBe(404);
    for (const url of [admin, apart.url]) {
      for (const page of ['/healthz', '/readyz']) expect((await send(new URL(page, url).href)).status).toBe(200);
    }
    expect((await send(new URL('/webhooks/Services/WebHooks.asmx/HelloWorld', admin).href)).status).toBe(404);
  });
});

it('a call is in the bucket of its bound and in all larger ones', async () => {
  const { calls: times } = idleMetrics();
  for (const seconds of [0.00025, 0.003, 10, 11]) times.add('soap11', 'HelloWorld', 'ok', seconds);
  const { values } = await times.get();
  const counts = values.flatMap(({ labels, value }) => ('le' in labels ? [[labels.le, value] as const] : []));
  expect(Object.fromEntries(counts)).toMatchObject({ 0.00025: 1, 0.0025: 1, 0.005: 2, 5: 2, 10: 3, '+Inf': 4 });
});

it('X-Request-Id of a request is repeated in the reply, unless it is one that a log could not show', async () => {
  const { url } = await startService();
  const idOf = async (id: string) =>
    (await send(`${url}/HelloWorld`, { headers: { 'X-Request-Id': id } })).headers['x-request-id'];
  expect(await idOf('a1b2-c3:d4')).toBe('a1b2-c3:d4');
  for (const id of ['', 'x'.repeat(129), 'a b', '"quoted"', '<b>'])
    expect(await idOf(id)).toMatch(/^[0-9a-f]{12}-[0-9a-z]+$/);
});
