import { EventLogError } from '../../src/log/engine';
import { openMemoryLog } from '../../src/log/memory/event-log';
import { ask, BINDINGS, callOperation, eventsOf, NAMESPACE } from '../support/bindings';
import { useService } from '../support/service';

describe('an event recorded over any binding', () => {
  const service = useService();

  it.each(BINDINGS)('%s can be read over every binding as a CloudEvent', async (binding) => {
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
});

describe('an operation that fails in the event log', () => {
  const failing = Object.assign(openMemoryLog(), {
    append: () =>
      Promise.reject(new EventLogError('The event could not be recorded.', { cause: new Error('disk <full>') })),
    read: () => Promise.reject(new EventLogError('The events could not be read.')),
  });
  const service = useService({}, failing);

  it.each([
    ['soap11', '<faultcode>soap:Server</faultcode><faultstring>'],
    ['soap12', '<soap:Code><soap:Value>soap:Receiver</soap:Value></soap:Code><soap:Reason><soap:Text xml:lang="en">'],
    ['httpget', undefined],
    ['httppost', undefined],
  ] as const)('answers over %s with all causes, with SOAP in a fault', async (binding, fault) => {
    const { status, headers, body } = await ask(service.url, binding, 'RecordEvent');
    const type = { soap11: 'text/xml', soap12: 'application/soap+xml', httpget: 'text/plain', httppost: 'text/plain' };
    expect([status, headers['retry-after'], headers['content-type']]).toEqual([
      ...[503, '1', `${type[binding]}; charset=utf-8`],
    ]);
    if (fault === undefined) expect(body).toBe('The event could not be recorded. ---> disk <full>\n');
    else
      expect(body).toContain(
        `${fault}Server was unable to process request. ---&gt; The event could not be recorded. ---&gt; disk &lt;full&gt;<`,
      );
    expect(body).not.toContain(NAMESPACE);
  });

  it('does not affect the other operations', async () => {
    expect(await callOperation(service.url, 'soap12', 'HelloWorld')).toBe('Hello World');
  });
});
