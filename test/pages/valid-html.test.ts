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

// All are checked in this file: to load the validator takes as long as the tests.
const OPERATIONS = ORIGINAL_OPERATIONS.map((name) => `?op=${name}`);

async function expectValid(url: string, ...queries: readonly string[]): Promise<void> {
  for (const query of queries) {
    const { body } = await send(url + query);
    expect([query, body.slice(0, 15), await htmlProblems(body)]).toEqual([query, '<!doctype html>', []]);
  }
}

it('the pages of a service without events are valid HTML, with and without keys and signatures', async () => {
  const events = ['?events', '?events=rate', '?events=refusals', '?event=9'];
  await expectValid((await startService()).url, '', ...OPERATIONS, '?op=Nope', ...events);
  const keys = { RECORD_KEYS: 'record-key-0123456789', READ_KEYS: 'read-key-0123456789abc' };
  for (const variables of [keys, { WEBHOOK_SECRETS: 'a-secret-of-a-sender' }])
    await expectValid((await startService(variables)).url, ...OPERATIONS, '?events');
});

it('the pages of events and refused calls are valid HTML', async () => {
  const { url, log } = await startService();
  for (const i of ['1', '2'])
    await post(url, `{"</div><b>\u202E":["</bdi>"],"a":${i}}`, { ...JSON_TYPE, 'X-Note': `<b>${i}`.repeat(99) });
  await post(url, 'a=1&b=%7B%22c%22:2%7D', { ...FORM, 'webhook-id': 'x' });
  await post(url, PNG, { 'Content-Type': 'image/png' });
  const data = `"data":${JSON.stringify({ note: '<b>', file: { filename: '<b>', base64: PNG.toString('base64') } })}`;
  const arrival = JSON.stringify({ headers: { 'content-type': 'multipart/form-data; boundary=x' } });
  await log.append(newEvent({ data, arrival }));
  await send(`${url}/Nope`);
  const lists = ['?events', '?events&text=a', '?events=find&text=b', '?events=rate&per=day', '?events=refusals'];
  await expectValid(url, '', ...lists, '?event=1', '?event=3', '?event=4', '?event=5', '?event=1&with=2');
});

it('the page of an operation with parameters is valid HTML', async () => {
  const contract = await contractWith({ Fill: ['count s:int', 'note s:string', 'at s:string?'] });
  await expectValid((await startEndpoint({}, contract)).url, '?op=Fill');
});
