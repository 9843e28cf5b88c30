import { IncomingCall } from '../../src/call/incoming-call';
import { EventLogError } from '../../src/log/engine';
import { openMemoryLog } from '../../src/log/memory/event-log';
import { ask, BINDINGS, callOperation, eventsOf } from '../support/bindings';
import { startService, useService } from '../support/service';

const service = useService();

it.each(BINDINGS)('an event recorded over %s can be read over every binding as a CloudEvent', async (binding) => {
  const id = await callOperation(service.url, binding, 'RecordEvent');
  expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  for (const reader of BINDINGS) {
    const events = eventsOf(await callOperation(service.url, reader, 'GetEvents'));
    expect(events.find((event) => event.id === id)).toEqual({
      specversion: '1.0',
      id,
      source: '/webhooks/Services/WebHooks.asmx',
      type: 'webhook.recorded',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      binding,
      sequence: expect.stringMatching(/^\d{20}$/) as string,
    });
  }
});

it.each(BINDINGS)('a message over %s is let go of before the log takes its event', async (binding) => {
  const { url, log } = await startService();
  const forget = jest.spyOn(IncomingCall.prototype, 'forget');
  const append = jest.spyOn(log, 'append');
  await callOperation(url, binding, 'RecordEvent');
  const [forgotten = NaN] = forget.mock.invocationCallOrder;
  expect(append.mock.invocationCallOrder[0]).toBeGreaterThan(forgotten);
});

const failing = Object.assign(openMemoryLog(), {
  append: () =>
    Promise.reject(new EventLogError('The event could not be recorded.', { cause: new Error('disk <full>') })),
});
const full = useService({}, failing);

it.each(BINDINGS)('a failure of the event log gets 503 over %s, with when to try again and why', async (binding) => {
  const { status, headers, body } = await ask(full.url, binding, 'RecordEvent');
  expect([status, headers['retry-after']]).toEqual([503, '1']);
  expect(body).toMatch(/The event could not be recorded\. ---(>|&gt;) disk (<full>\n$|&lt;full&gt;<)/);
});
