import { mkdir } from 'node:fs/promises';
import { requestOf } from '../support/bindings';
import { send } from '../support/http';
import { startProcess } from '../support/process';

/** A service on which one client works at a time. */
export interface Lane {
  /** Absolute address of the endpoint. */
  readonly url: string;
  stop(): Promise<unknown>;
}

/** Starts a service in a new folder and fills its log: an answer of GetEvents is then as large as it may be. */
export async function startLane(folder: string, settings: Readonly<Record<string, string>> = {}): Promise<Lane> {
  await mkdir(folder);
  const service = await startProcess(settings, folder);
  const { path, ...question } = requestOf('httppost', 'RecordEvent');
  const headers = { 'Content-Type': 'application/cloudevents-batch+json' };
  const event = { specversion: '1.0', source: '/interop', type: 'large', data: 'x'.repeat(1000) };
  const events = Array.from({ length: 100 }, (_, i) => ({ ...event, id: `large-${String(i)}` }));
  const { status, body } = await send(service.url + path, { ...question, headers, body: JSON.stringify(events) });
  if (status !== 200) throw new Error(`${String(status)}: ${body}`);
  return { url: service.url, stop: () => service.end('SIGTERM') };
}
