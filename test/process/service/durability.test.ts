import { resultOf } from '../../support/bindings';
import { eventually } from '../../support/eventually';
import { send } from '../../support/http';
import { startProcess } from '../../support/process';
import { everyEvent, recordFrom } from '../../support/load';
import { useTemporaryFolder } from '../../support/temporary-folder';

describe('what was answered', () => {
  const folder = useTemporaryFolder();

  it('is in the log once after the process was killed in the middle of 50 callers', async () => {
    const service = await startProcess({}, folder.path);
    let killed = false;
    let calls = 0;
    const recording = recordFrom(50, service.url, () => {
      calls++;
      return killed;
    });
    await eventually('calls are under way', () => calls > 500);
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

  it('of 1,000 copies of one CloudEvent from 50 connections to two processes is one event with one id', async () => {
    const services = await Promise.all([startProcess({}, folder.path), startProcess({}, folder.path)]);
    const headers = { 'Content-Type': 'application/cloudevents+json' };
    const body = JSON.stringify({ specversion: '1.0', id: 'the one', source: '/sender', type: 't', data: 1 });
    const ids = new Set<string>();
    const connection = async (_value: unknown, i: number): Promise<void> => {
      for (let copy = 0; copy < 20; copy++) {
        const url = `${services[(i + copy) % 2]?.url ?? ''}/RecordEvent`;
        const answer = await send(url, { method: 'POST', headers, body });
        expect(answer.status).toBe(200);
        ids.add(resultOf(answer));
      }
    };
    await Promise.all(Array.from({ length: 50 }, connection));
    expect([...ids]).toEqual(['the one']);
    for (const service of services) {
      expect((await everyEvent(service.url)).map(({ id }) => id)).toEqual(['the one']);
      await service.end('SIGTERM');
    }
  });

  it('is in the log once when two processes write to one file', async () => {
    const services = await Promise.all([startProcess({}, folder.path), startProcess({}, folder.path)]);
    const recorded = await Promise.all(
      services.map(({ url }) => {
        let calls = 0;
        return recordFrom(10, url, () => ++calls > 300);
      }),
    );
    for (const answered of recorded) expect(answered).toHaveLength(300);
    for (const { url } of services) {
      const events = await everyEvent(url);
      expect(events.map(({ id }) => id).sort()).toEqual(recorded.flat().sort());
      expect(new Set(events.map(({ sequence }) => sequence)).size).toBe(events.length);
    }
    for (const service of services) expect(await service.end('SIGTERM')).toBe(0);
  });
});
