import { post } from '../support/bindings';
import { ORIGINAL_OPERATIONS } from '../support/contract';
import { startEndpoint } from '../support/endpoint';
import { newEvent } from '../support/events';
import { FORM, JSON_TYPE } from '../support/events-pages';
import { send } from '../support/http';
import { PNG } from '../support/images';
import { contractWith } from '../support/operations-with-parameters';
import { startService } from '../support/service';
import { htmlProblems } from '../support/valid-html';

const OPERATIONS = ORIGINAL_OPERATIONS.map((name) => `?op=${name}`);
const KEYS = { RECORD_KEYS: 'record-key-0123456789', READ_KEYS: 'read-key-0123456789abc' };

async function expectValid(url: string, ...queries: readonly string[]): Promise<void> {
  for (const query of queries) {
    const { body } = await send(url + query);
    expect([query, body.slice(0, 15), await htmlProblems(body)]).toEqual([query, '<!doctype html>', []]);
  }
}

// All in this file: to load the validator takes as long as all of them.
describe('valid HTML are the pages', () => {
  it('of a service without events', async () => {
    const { url } = await startService();
    const events = ['?events', '?events=rate', '?events=refusals', '?event=9'];
    await expectValid(url, '', ...OPERATIONS, '?op=Nope', ...events);
  });

  it('of events and of a refused call', async () => {
    const { url, log } = await startService();
    const lists = ['?events', '?events&text=a', '?events=find&text=b', '?events=rate&per=day', '?events=refusals'];
    for (const i of ['1', '2'])
      await post(url, `{"</div><b>\u202E":["</bdi>"],"a":${i}}`, { ...JSON_TYPE, 'X-Note': `<b>${i}`.repeat(99) });
    await post(url, 'a=1&b=%7B%22c%22:2%7D', { ...FORM, 'webhook-id': 'x' });
    await post(url, PNG, { 'Content-Type': 'image/png' });
    const file = { filename: '<b>.png', contentType: 'image/png', base64: PNG.toString('base64') };
    const arrival = JSON.stringify({ headers: { 'content-type': 'multipart/form-data; boundary=x' } });
    await log.append(newEvent({ data: `"data":${JSON.stringify({ note: '<b>', file })}`, arrival }));
    await send(`${url}/Nope`);
    const events = [1, 2, 3, 4, 5].map((sequence) => `?event=${String(sequence)}`);
    await expectValid(url, '', ...lists, ...events, '?event=1&with=2');
    expect((await send(`${url}?event=5`)).body).toContain('The PNG image in this file');
  });

  it.each([KEYS, { WEBHOOK_SECRETS: 'a-secret-of-a-sender' }])('of a service with %j', async (variables) => {
    const { url } = await startService(variables);
    await expectValid(url, '', ...OPERATIONS, '?events');
  });

  it('of an operation with parameters', async () => {
    const contract = await contractWith({ Fill: ['count s:int', 'note s:string', 'at s:string?'] });
    await expectValid((await startEndpoint({}, contract)).url, '?op=Fill');
  });
});
