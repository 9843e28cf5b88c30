import { startApp } from '../src/app';
import { readConfig } from '../src/config/config';
import { openMemoryLog } from '../src/log/memory/event-log';
import { send } from './support/http';
import { startService } from './support/service';

it('a reload takes over keys, names and what is cut out as a secret', async () => {
  const [OLD, NEW] = ['the-old-key-of-sixteen', 'the-new-key-of-sixteen'] as const;
  const settings = (key: string) => ({ RECORD_KEYS: `shop ${key}`, ALLOWED_HOSTS: `${key}.example` });
  const { url, log, app } = await startService(settings(OLD));
  const statuses = () => {
    const answers = [OLD, NEW].flatMap((key) => [
      send(`${url}/RecordEvent`, { headers: { 'X-API-Key': key, 'X-Field': OLD + NEW } }),
      send(`${url}/GetEvents`, { headers: { Host: `${key}.example` } }),
    ]);
    return Promise.all(answers.map(async (answer) => (await answer).status));
  };
  expect(await statuses()).toEqual([200, 200, 401, 403]);
  await app.reload(readConfig(settings(NEW)));
  expect(await statuses()).toEqual([401, 403, 200, 200]);
  const [event, ...others] = await log.scan({ after: 1, limit: 9 });
  expect([event?.arrival, others]).toEqual([expect.stringContaining('"keyName":"shop"'), []]);
  expect(JSON.stringify([event, ...app.refusals().calls.slice(0, 2)])).not.toMatch(/the-(?:old|new)-key/);
});

it('a start ends the loss of files that an earlier worker reported, and warns of a log whose events are smaller than requests', async () => {
  const log = Object.defineProperty(openMemoryLog(), 'maxEventBytes', { value: 5_592_405 });
  const logger = { info: jest.fn(), warn: jest.fn(), error: jest.fn() };
  const supervisor = { refusals: jest.fn(), lostFiles: jest.fn() };
  const app = await startApp(readConfig({ PORT: '0' }), log, logger as never, supervisor);
  await app.close();
  await log.close();
  expect(supervisor.lostFiles.mock.calls).toEqual([[undefined]]);
  expect(logger.warn.mock.calls).toEqual([[expect.stringContaining('Set max_payload to 5592406 or more')]]);
});
