import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { newestEvents, post } from '../../support/bindings';
import { forgetAll } from '../../support/events';
import { useService } from '../../support/service';

const service = useService();
afterEach(() => forgetAll(service.log));

const record = (coding: string, body: string | Buffer) =>
  post(service.url, body, { 'Content-Encoding': coding, 'Content-Type': 'text/plain' });

it.each<[string, string | Buffer]>([
  ...['', 'UTF-8', '8bit', 'base64', 'none', 'gzip', 'deflate'].map((coding) => [coding, 'plain'] as [string, string]),
  ...['utf-8, gzip', 'gzip, identity', 'deflate', 'x-gzip', 'GZIP'].map(
    (coding) => [coding, gzipSync('plain')] as [string, Buffer],
  ),
  ['gzip', Buffer.concat([gzipSync('pl'), gzipSync('ain'), Buffer.alloc(100)])],
  ['gzip', deflateSync('plain')],
  ['deflate', deflateRawSync('plain')],
])('a body with the content coding %j, or without it, loses nothing (%#)', async (coding, body) => {
  expect((await record(coding, body)).status).toBe(200);
  expect(await newestEvents(service.url)).toMatchObject([{ data: 'plain' }]);
});

it.each([
  ['gzip', gzipSync('event')],
  ['gzip', Buffer.concat([gzipSync('event'), Buffer.alloc(1)])],
  ['deflate', deflateSync('event')],
  ['deflate', deflateRawSync('event')],
])('%s with bytes after the end of what is coded is refused', async (coding, coded) => {
  const answer = await record(coding, Buffer.concat([coded, Buffer.from('another event')]));
  expect(answer).toMatchObject({ status: 400, body: `The request body cannot be read: it is not valid ${coding}.\n` });
});
