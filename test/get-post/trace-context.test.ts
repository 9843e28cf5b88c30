import { BINDINGS, callOperation, newestEvents, post } from '../support/bindings';
import { forgetAll } from '../support/events';
import { useService } from '../support/service';

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const OTHER = '00-11111111111111111111111111111111-2222222222222222-00';

describe('the trace context of a request', () => {
  const service = useService();
  afterEach(() => forgetAll(service.log));
  const traces = async () =>
    (await newestEvents(service.url)).map(({ traceparent, tracestate }) => [traceparent, tracestate]);

  it.each(BINDINGS)('becomes attributes of the event over %s', async (binding) => {
    const headers = { traceparent: TRACE, tracestate: 'congo=t61rcWkgMzE, rojo@vendor=00f067aa0ba902b7' };
    await callOperation(service.url, binding, 'RecordEvent', '', headers);
    expect(await traces()).toEqual([[headers.traceparent, headers.tracestate]]);
  });

  it('becomes attributes of a CloudEvent that has none, and of each such event in a batch', async () => {
    const event = { specversion: '1.0', source: '/s', type: 't' };
    const send = (type: string, body: unknown) =>
      post(service.url, JSON.stringify(body), { 'Content-Type': type, traceparent: TRACE, tracestate: 'a=1' });
    await send('application/cloudevents+json', { ...event, id: '1' });
    await send('application/cloudevents+json', { ...event, id: '2', traceparent: OTHER });
    await send('application/cloudevents-batch+json', [
      { ...event, id: '3', traceparent: OTHER, tracestate: 'b=2' },
      { ...event, id: '4' },
    ]);
    expect(await traces()).toEqual([
      [TRACE, 'a=1'],
      [OTHER, undefined],
      [OTHER, 'b=2'],
      [TRACE, 'a=1'],
    ]);
  });

  it('is left out if it is not valid', async () => {
    await callOperation(service.url, 'httppost', 'RecordEvent', '', { traceparent: `${TRACE}x`, tracestate: 'a=1' });
    expect(await traces()).toEqual([[undefined, undefined]]);
  });
});
