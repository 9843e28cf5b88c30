import { resultOf } from '../../support/bindings';
import { send } from '../../support/http';
import { startProcess } from '../../support/process';
import { everyEvent, Load } from '../../support/load';
import { useTemporaryFolder } from '../../support/temporary-folder';

describe('what was answered', () => {
  const folder = useTemporaryFolder();

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
    const load = new Load((caller) => services[caller % 2]?.url ?? '', { callers: 20 });
    await load.goesOn(600);
    await load.stop();
    expect(load.failed).toBe(0);
    for (const { url } of services) {
      const events = await everyEvent(url);
      expect(events.map(({ id }) => id).sort()).toEqual(load.answered.map(({ id }) => id).sort());
      expect(new Set(events.map(({ sequence }) => sequence)).size).toBe(events.length);
    }
    for (const service of services) expect(await service.end('SIGTERM')).toBe(0);
  });
});
