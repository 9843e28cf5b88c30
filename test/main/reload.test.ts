import { ProcessConfig } from '../../src/config/process-config';
import { reload } from '../../src/run';

it.each([
  ['changes nothing if a TLS file cannot be used', () => Promise.reject(new Error('no certificate')), ['app']],
  ['takes retention over after the TLS files', () => Promise.resolve(), ['app', 'retention']],
])('a reload %s', async (_what, answer, expected) => {
  const done: string[] = [];
  const app = { reload: () => (done.push('app'), answer()) };
  const log = { retain: () => (done.push('retention'), false) };
  const logger = { info: jest.fn(), warn: jest.fn(), error: jest.fn() };
  await reload(ProcessConfig.ofService(jest.fn()), { app, log }, logger);
  expect(done).toEqual(expected);
  expect(logger.error).toHaveBeenCalledTimes(2 - expected.length);
});
