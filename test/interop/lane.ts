import { mkdir } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { requestOf } from '../support/bindings';
import { eventually } from '../support/eventually';
import { send } from '../support/http';
import { metricsAt } from '../support/metrics';
import { startProcess } from '../support/process';

/** How many small events a lane's log begins with, and how many large ones come next. */
export const SMALL_EVENTS = 250;
const LARGE_EVENTS = 100;

/** The data of the event that a lane records for each call that waits. */
export const AWAITED = { recorded: 'while a call waited' };

/** A service on which one client works at a time: no event comes but the client's own and those of the lane. */
export interface Lane {
  /** Absolute address of the endpoint. */
  readonly url: string;
  /** Ends the service. @throws the lane could not record an event for a call that waited. */
  stop(): Promise<void>;
}

/** Starts a service in a new folder and fills its log: an answer of GetEvents is then as large as it may be. */
export async function startLane(folder: string, settings: Readonly<Record<string, string>> = {}): Promise<Lane> {
  await mkdir(folder);
  const service = await startProcess(settings, folder);
  await record(service.url, 'application/cloudevents-batch+json', [
    ...Array.from({ length: SMALL_EVENTS }, (_, i) => cloudEvent('small', i, {})),
    ...Array.from({ length: LARGE_EVENTS }, (_, i) => cloudEvent('large', i, { filling: 'x'.repeat(1000) })),
  ]);
  const stopped = new AbortController();
  const recording = recordWhereCallsWait(service.url, stopped.signal);
  // `stop` reports it; until then it must not end the process.
  recording.catch(() => undefined);
  return {
    url: service.url,
    async stop() {
      stopped.abort();
      await recording.finally(() => service.end('SIGTERM'));
    },
  };
}

function cloudEvent(type: string, number: number, data: object): object {
  return { specversion: '1.0', id: `${type}-${String(number)}`, source: '/interop', type, data };
}

/** Records one event for each call that waits for one, once the service says that it does. */
async function recordWhereCallsWait(url: string, stopped: AbortSignal): Promise<void> {
  const callWaits = async (): Promise<boolean> => {
    const waiting = (await metricsAt(url)).get('webhook_calls_waiting');
    if (waiting === undefined) throw new Error('the service does not say how many calls wait');
    return waiting > 0;
  };
  while (!stopped.aborted) {
    if (await callWaits()) {
      await record(url, 'application/json', AWAITED);
      await eventually('the call that waited is answered', async () => !(await callWaits()));
    }
    await setTimeout(200);
  }
}

async function record(url: string, contentType: string, content: unknown): Promise<void> {
  const { path, ...question } = requestOf('httppost', 'RecordEvent');
  const headers = { 'Content-Type': contentType };
  const { status, body } = await send(url + path, { ...question, headers, body: JSON.stringify(content) });
  if (status !== 200) throw new Error(`${String(status)}: ${body}`);
}
