import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import Database from 'libsql';
import { SqliteEventLog } from '../../src/events/sqlite-event-log';
import { callOperation, resultOf } from '../support/bindings';
import { send } from '../support/http';
import { startProcess } from '../support/process';
import { everyEvent, recordFrom, recordTwice } from '../support/load';
import { useTemporaryFolder } from '../support/service';

/** How often the service is killed: ten times by default, a hundred by `scripts/kill-test.mjs`. */
const KILLS = Number(process.env.KILLS ?? 10);

describe('what was answered', () => {
  const folder = useTemporaryFolder();

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

  it(
    `is in the log once after ${String(KILLS)} kills, with every event sent twice under one key`,
    async () => {
      const file = join(folder.path, 'data', 'events.db');
      const answers = new Map<string, Set<string>>();
      for (let kill = 0; kill < KILLS; kill++) {
        const service = await startProcess({}, folder.path);
        let killed = false;
        const recording = recordTwice(25, service.url, `kill-${String(kill)}`, answers, () => killed);
        await setTimeout(150 + 30 * (kill % 10));
        killed = true;
        await service.end('SIGKILL');
        await recording;
        expectWhole(file);
      }
      // What was cut off is sent again, as senders do, and everything under its old key gets its old id.
      const service = await startProcess({}, folder.path);
      const lastKeys = [...answers.keys()].slice(-200);
      for (const key of lastKeys) {
        answers
          .get(key)
          ?.add(await callOperation(service.url, 'httpget', 'RecordEvent', '', { 'Idempotency-Key': key }));
      }
      await service.end('SIGTERM');
      expectWhole(file);

      const log = await SqliteEventLog.open({ file });
      const logged = new Map<string, string>();
      for (let position = 0n; ;) {
        const page = await log.scan(position, 10_000);
        if (page.length === 0) break;
        for (const { id, idempotencyKey = '', sequence } of page) {
          expect(logged.has(idempotencyKey)).toBe(false);
          logged.set(idempotencyKey, id);
          position = BigInt(sequence);
        }
      }
      await log.close();
      expect(answers.size).toBeGreaterThan(KILLS * 20);
      for (const [key, ids] of answers) expect([...ids]).toEqual(ids.size === 0 ? [] : [logged.get(key)]);
    },
    30_000 + KILLS * 5_000,
  );

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

function expectWhole(file: string): void {
  const database = new Database(file);
  expect(database.pragma('integrity_check')).toMatchObject([{ integrity_check: 'ok' }]);
  const totals = database.prepare('SELECT events, (SELECT count(*) FROM events) AS counted FROM totals').get();
  const { events, counted } = totals as { events: number; counted: number };
  expect(events).toBe(counted);
  database.close();
}
