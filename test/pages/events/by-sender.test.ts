import { send } from '../../support/http';
import { startService } from '../../support/service';

it('events of a known sender are found by it, and carry its name', async () => {
  const service = await startService();
  const record = (headers: Record<string, string>) =>
    send(`${service.url}/RecordEvent`, { method: 'POST', headers, body: '{}' });
  await record({ 'X-GitHub-Delivery': 'd-1', 'X-GitHub-Event': 'push' });
  await record({ 'Content-Type': 'application/json' });
  const rows = async (query: string) =>
    [
      ...(await send(service.url + query)).body.matchAll(/<td class="address[^>]*>(?:<a href="([^"]*)">)?<bdi>(.*?)</g),
    ].map(([, href, sender]) => [href?.replaceAll('&amp;', '&'), sender]);
  expect(await rows('?events')).toEqual([
    ['?events&sender=127.0.0.1', '127.0.0.1'],
    ['?events&fromsender=github', 'GitHub'],
  ]);
  expect(await rows('?events&fromsender=github')).toEqual([[undefined, 'GitHub']]);
  const none = (await send(`${service.url}?events&fromsender=stripe`)).body;
  expect(none).toContain('None of the 2 events in the log matches.');
  expect(none).toContain('<option value="stripe" selected>');
  expect((await send(`${service.url}?event=1`)).body).toContain('<span class="chip"><bdi>GitHub</bdi></span>');
  const lines = (await send(`${service.url}?events=export&fromSender=github`)).body.trim().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(['com.github.push']);
  await service.stop();
});

it('events of all types that begin alike are found by what they have in common', async () => {
  const service = await startService();
  for (const event of ['push', 'issues']) {
    const headers = { 'X-GitHub-Event': event, 'X-GitHub-Delivery': event };
    await send(`${service.url}/RecordEvent`, { method: 'POST', headers, body: '{}' });
  }
  await send(`${service.url}/RecordEvent`, { method: 'POST', body: 'x' });
  const { body } = await send(`${service.url}?events&type=com.github.*`);
  expect(body.match(/com\.github\.(?:push|issues)(?=<)/g)).toEqual(['com.github.issues', 'com.github.push']);
  await service.stop();
});

it('the page of an event names the key that recorded it', async () => {
  const service = await startService({ RECORD_KEYS: 'shop 0123456789abcdef0', READ_KEYS: 'fedcba9876543210f' });
  await send(`${service.url}/RecordEvent`, { method: 'POST', headers: { 'X-API-Key': '0123456789abcdef0' } });
  const { body } = await send(`${service.url}?event=1`, { headers: { 'X-API-Key': 'fedcba9876543210f' } });
  expect(body).toContain('Key <code><bdi>shop</bdi></code>');
  await service.stop();
});
