import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { send } from '../../support/http';
import { expectNothingHeld } from '../../support/nothing-held';
import { startService } from '../../support/service';

describe('a content coding', () => {
  const record = (url: string, coding: string, body: string | Buffer) =>
    send(`${url}/RecordEvent`, {
      method: 'POST',
      headers: { 'Content-Encoding': coding, 'Content-Type': 'text/plain' },
      body,
    });

  it.each(['x-gzip', 'GZIP'])('named %s is gzip', async (coding) => {
    const service = await startService();
    const answer = await record(service.url, coding, gzipSync('event'));
    expect(answer.status).toBe(200);
    expect((await service.log.scan({ after: 0, limit: 1 }))[0]?.data).toContain('event');
    await expectNothingHeld(service);
  });

  it('that is unknown is refused with those that are known', async () => {
    const service = await startService();
    const answer = await record(service.url, 'lzw', 'event');
    expect([answer.status, answer.headers['accept-encoding']]).toEqual([415, 'gzip, deflate']);
    await expectNothingHeld(service);
  });

  it.each([
    ['', 'plain'],
    ['UTF-8', 'plain'],
    ['8bit', 'plain'],
    ['none', 'plain'],
    ['gzip', 'plain'],
    ['deflate', 'plain'],
    ['utf-8, gzip', gzipSync('plain')],
    ['gzip', Buffer.concat([gzipSync('pl'), gzipSync('ain'), Buffer.alloc(100)])],
    ['gzip', deflateSync('plain')],
    ['deflate', gzipSync('plain')],
    ['deflate', deflateRawSync('plain')],
  ])('%s that the body does not have, or has in another way, loses nothing', async (coding, body) => {
    const service = await startService();
    expect((await record(service.url, coding, body)).status).toBe(200);
    expect((await service.log.scan({ after: 0, limit: 1 }))[0]?.data).toBe('"data":"plain"');
    await service.stop();
  });

  it.each([
    ['gzip', gzipSync('event')],
    ['deflate', deflateSync('event')],
    ['deflate', deflateRawSync('event')],
  ])('%s is refused with bytes after the end of what is coded', async (coding, coded) => {
    const service = await startService();
    const answer = await record(service.url, coding, Buffer.concat([coded, Buffer.from('another event')]));
    expect(answer).toMatchObject({
      status: 400,
      body: `The request body cannot be read: it is not valid ${coding}.\n`,
    });
    await service.stop();
  });
});
