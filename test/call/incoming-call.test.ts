import { CloudEventError } from '../../src/events/cloudevents/attributes';
import { EventTooLargeError } from '../../src/log/engine';
import { CallError, type Operation } from '../../src/service/call';
import { ask, BINDINGS } from '../support/bindings';
import { startEndpoint, type TestEndpoint } from '../support/endpoint';

const failing = (error: Error): Operation => ({ access: 'open', run: () => Promise.reject(error) });

/** Returns whether a call has a payload before it waits, and after. */
const contentAroundWait: Operation['run'] = async (call) => {
  const before = await call.content();
  await call.whileIdle(() => Promise.resolve());
  return [before, await call.content()].map((content) => 'payload' in content && content.payload !== undefined).join();
};

describe.each(BINDINGS)('over %s', (binding) => {
  let endpoint: TestEndpoint;
  let waiting: TestEndpoint;
  beforeAll(async () => {
    endpoint = await startEndpoint({
      RecordEvent: failing(new CloudEventError("The CloudEvent's attribute id is missing.")),
      GetEvents: failing(CallError.mustBe('limit', 'a number')),
      HelloWorld: failing(new Error('it broke', { cause: new Error('the disk is full') })),
    });
    waiting = await startEndpoint({
      RecordEvent: failing(new EventTooLargeError('1', 2, 1)),
      GetEvents: { access: 'record', run: contentAroundWait },
      HelloWorld: { access: 'open', run: () => Promise.resolve('x'.repeat(2000)) },
    });
  });

  const isSoap = binding.startsWith('soap');

  it.each([
    ['GetEvents', 'The parameter limit must be a number.'],
    ['RecordEvent', "The CloudEvent's attribute id is missing."],
  ])('a mistake of the caller of %s is told as such and reported as a refusal', async (operation, reason) => {
    const answer = await ask(endpoint.url, binding, operation);
    expect(answer.status).toBe(isSoap ? 500 : 400);
    if (isSoap) {
      expect(answer.body).toMatch(/soap:(?:Client|Sender)</);
      expect(answer.body).toContain(`>Server was unable to read request. ---&gt; ${reason}<`);
    } else expect(answer.body).toBe(`${reason}\n`);
    expect(endpoint.reports.at(-1)).toMatchObject({ binding, operation, error: { category: 'invalid' } });
  });

  it('an event that its log does not take is refused as too large', async () => {
    const answer = await ask(waiting.url, binding, 'RecordEvent');
    expect([answer.status, answer.body]).toEqual([413, expect.stringContaining('takes 1 at most')]);
    expect(waiting.reports.at(-1)).toMatchObject({ error: { category: 'too-large' } });
  });

  it('nothing stays of a message whose call waits', async () => {
    const { body } = await ask(waiting.url, binding, 'GetEvents', { inside: '<x/>', fields: 'x=1' });
    expect(body).toContain(`true,${String(binding === 'httpget')}`);
  });

  it('an answer that is compressed is reported once it is', async () => {
    await ask(waiting.url, binding, 'HelloWorld', { headers: { 'Accept-Encoding': 'gzip' } });
    expect(waiting.reports.at(-1)).toMatchObject({ operation: 'HelloWorld', isAnswered: true });
  });

  it('a failure of the service is reported as such, with its cause', async () => {
    const answer = await ask(endpoint.url, binding, 'HelloWorld');
    expect(answer.status).toBe(500);
    if (isSoap) {
      expect(answer.body).toMatch(/soap:(?:Server|Receiver)</);
      expect(answer.body).toContain('unable to process request. ---&gt; it broke ---&gt; the disk is full<');
    } else expect(answer.body).toBe('it broke ---> the disk is full\n');
    expect(endpoint.reports.at(-1)).toMatchObject({ binding, operation: 'HelloWorld', error: { message: 'it broke' } });
  });
});
