import { send } from '../support/http';
import { startService } from '../support/service';

const PATH = '/webhooks/Services/WebHooks.asmx';

describe('a webhook that is sent to another address than that of RecordEvent', () => {
  it.each(['application/json', 'application/x-www-form-urlencoded', undefined])(
    'is told the right one at the endpoint itself: %s',
    async (type) => {
      const service = await startService();
      const headers: Record<string, string> = type === undefined ? {} : { 'Content-Type': type };
      const answer = await send(service.url, { method: 'POST', headers, body: '{}' });
      expect(answer.status).toBe(415);
      expect(answer.body).toContain(`Webhooks go to ${service.url}/RecordEvent, as JSON, a form, XML or text.`);
      await service.stop();
    },
  );

  it.each([
    `${PATH}/`,
    '/webhook',
    '/WEBHOOKS/',
    '/WebHooks.asmx',
    '/services/webhooks',
    '/RecordEvent',
    '/a/recordevents',
  ])('is told the right one at %s', async (path) => {
    const service = await startService({ BASE_URL: 'https://example.com/prefix' });
    const answer = await send(new URL(path, service.url).href, { method: 'POST', body: '{}' });
    const address = `https://example.com/prefix${PATH}/RecordEvent`;
    expect([answer.status, answer.body]).toEqual([
      404,
      `There is nothing at this address. Webhooks go to ${address}, as JSON, a form, XML or text.\n`,
    ]);
    await service.stop();
  });

  it.each(['/.env', '/wp-login.php', '/s', '//', '/favicon.ico'])('is told nothing at %s', async (path) => {
    const service = await startService();
    const answer = await send(service.url.replace(PATH, path), { method: 'POST', body: '{}' });
    expect(answer.body).not.toContain('RecordEvent');
    await service.stop();
  });

  it('is not told of an address where HTTP POST is off', async () => {
    const service = await startService({ PROTOCOLS: 'soap11,httpget' });
    for (const url of [service.url, `${service.url}/`]) {
      expect((await send(url, { method: 'POST', body: '{}' })).body).not.toContain('RecordEvent');
    }
    await service.stop();
  });
});
