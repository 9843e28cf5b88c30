import { setTimeout } from 'node:timers/promises';
import { startProcess } from '../support/process';
import { everyEvent, recordFrom } from '../support/load';
import { temporaryFolder } from '../support/service';

describe('what was answered', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  it('is in the log once after the process was killed in the middle of 50 callers', async () => {
    const service = await startProcess({}, folder.path);
    let killed = false;
    const recording = recordFrom(50, service.url, () => killed);
    await setTimeout(1000);
    killed = true;
    expect(await service.end('SIGKILL')).toBe('SIGKILL');
    const answered = await recording;
    expect(answered.length).toBeGreaterThan(100);

    const again = await startProcess({}, folder.path);
    const ids = (await everyEvent(again.url)).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(answered.filter((id) => !ids.includes(id))).toEqual([]);
    await again.end('SIGTERM');
  });

  it('is in the log once when two processes write to one file', async () => {
    const services = await Promise.all([startProcess({}, folder.path), startProcess({}, folder.path)]);
    const deadline = Date.now() + 1000;
    const recorded = await Promise.all(services.map(({ url }) => recordFrom(10, url, () => Date.now() > deadline)));
    for (const answered of recorded) expect(answered.length).toBeGreaterThan(50);
    for (const { url } of services) {
      const events = await everyEvent(url);
      expect(events.map(({ id }) => id).sort()).toEqual(recorded.flat().sort());
      expect(new Set(events.map(({ sequence }) => sequence)).size).toBe(events.length);
    }
    for (const service of services) expect(await service.end('SIGTERM')).toBe(0);
  });
});
