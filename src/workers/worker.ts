import type { Registry } from 'prom-client';
import { ofSupervisor } from '../config/environment';
import type { Channel } from '../log/engine';
import type { EventLogLocation } from '../log/engines';
import { within } from '../util/promises';
import type { RefusedCalls, Refusals } from '../telemetry/refused-calls';
import type { FromWorker, ToWorker } from './worker-process';

/** How long a worker that ends waits for the supervisor to take its report, in milliseconds. */
const LEAVE_TIMEOUT = 1000;

/** How long the supervisor may take to collect the refused calls of all workers, in milliseconds. */
const COLLECT_TIMEOUT = 2000;

/**
 * Tells the supervisor that this process is ready to answer, and calls `retire` when another one has taken its place.
 *
 * @returns sends the last report, so that it is not lost when the process ends. Never rejects.
 */
export function joinSupervisor(
  app: { readonly url: string; readonly metrics: Registry; readonly refusedCalls: RefusedCalls },
  retire: (why: string) => void,
): () => Promise<void> {
  const sendReport = async (): Promise<void> => {
    const figures = await app.metrics.getMetricsAsJSON();
    const { calls, counts } = app.refusedCalls.list();
    await send({ report: { figures, refusals: calls, refusalCounts: counts } });
  };
  // A terminal sends SIGHUP to the whole process group; it is meant for the supervisor alone.
  process.on('SIGHUP', () => undefined);
  process.on('message', (message: ToWorker) => {
    if (message === 'retire') retire(message);
    else if (message === 'report') sendReport().catch(() => undefined);
  });
  send({ ready: app.url }).catch(() => undefined);
  return () => within(sendReport(), LEAVE_TIMEOUT, () => new Error('too late')).catch(() => undefined);
}

/** Returns a function that asks the supervisor for all workers' refusals; without an answer it has only those of this worker. */
export function refusalsOfAllWorkers(): (own: RefusedCalls) => Promise<Refusals> {
  let answered: (refusals: Refusals) => void = () => undefined;
  process.on('message', (message: ToWorker) => {
    if (typeof message !== 'object' || !('refusals' in message)) return;
    const { refusals: calls, refusalCounts: counts = [] } = message;
    answered({ calls, counts });
  });
  const ask = async (): Promise<Refusals> => {
    const answer = new Promise<Refusals>((resolve) => {
      answered = resolve;
    });
    await send('refusals of all');
    return within(answer, COLLECT_TIMEOUT, () => new Error('too late'));
  };
  let asking: Promise<Refusals> | undefined;
  return (own) => {
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking.catch(() => own.list());
  };
}

/**
 * Returns the channel to the supervisor's writer; undefined if each process writes for itself, as with JetStream.
 *
 * @throws {Error} the supervisor, which a new build does not replace, is of a build that speaks another protocol.
 */
export function writerChannel({ sharedWriter }: EventLogLocation): Channel | undefined {
  if (sharedWriter === undefined) return undefined;
  if (ofSupervisor()?.writerProtocol !== sharedWriter.protocol)
    throw new Error(
      'This worker is of another build than its supervisor, and they write events in different ways. Restart the service: ' +
        'SIGHUP cannot renew the workers across these builds.',
    );
  return {
    send(message, sent) {
      void send({ log: message }).then(sent);
    },
    onMessage(listener) {
      process.on('message', (message: ToWorker) => {
        if (typeof message === 'object' && 'log' in message) listener(message.log);
      });
    },
    onClose(listener) {
      process.once('disconnect', listener);
    },
  };
}

/** Resolves when the message is on its way. A supervisor that is gone gets none; then this process ends anyway. */
function send(message: FromWorker): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve();
    else
      process.send(message, undefined, undefined, () => {
        resolve();
      });
  });
}
