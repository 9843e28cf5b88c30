import { callOperation, requestOf } from '../../support/bindings';
import { send } from '../../support/http';
import { startService } from '../../support/service';

describe('the pages of the events', () => {
  it('stay without the documentation, and do not link to it', async () => {
    const { url, ...service } = await startService({ DOCUMENTATION: 'false' });
    await callOperation(url, 'httppost', 'RecordEvent');
    for (const query of ['?events', '?event=1']) {
      const { status, body } = await send(url + query);
      expect(status).toBe(200);
      expect(body).toContain('class="name" href="WebHooks.asmx?events"');
      expect(body).not.toMatch(/\?(?:wsdl|disco|op=)|>Operations</i);
    }
    await service.stop();
  });

  it('without HTTP GET do not ask for new events, and without HTTP POST show no example of it', async () => {
    for (const protocol of ['soap11', 'httpget', 'httppost'] as const) {
      const { url, ...service } = await startService({ PROTOCOLS: protocol });
      const { body } = await send(`${url}?events`);
      await service.stop();
      expect([protocol, body.includes('id="live"')]).toEqual([protocol, protocol === 'httpget']);
      expect([protocol, body.includes('/RecordEvent<')]).toEqual([protocol, protocol === 'httppost']);
    }
  });

  it('say of an event that came over a binding which is off that it would be refused', async () => {
    const all = await startService();
    await callOperation(all.url, 'soap12', 'RecordEvent');
    for (const [protocols, isRefused] of [
      ['soap12', false],
      ['soap11', true],
    ] as const) {
      const { url } = await startService({ PROTOCOLS: protocols }, all.log);
      const { body } = await send(`${url}?event=1`);
      expect(body.includes('This service would refuse it')).toBe(isRefused);
    }
    await all.stop();
  });

  it('list the calls that are refused since their binding is off', async () => {
    const { url, ...service } = await startService({ PROTOCOLS: 'soap11' });
    const { path, ...question } = requestOf('httppost', 'RecordEvent');
    await send(url + path, question);
    const { body } = await send(`${url}?events=refusals`);
    await service.stop();
    expect(body).toContain('HTTP POST is off (PROTOCOLS).');
  });
});
