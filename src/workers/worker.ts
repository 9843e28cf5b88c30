import type { Registry } from 'prom-client';
import type { ProcessConfig } from '../config/process-config';
import type { NewEvent } from '../events/stored-event';
import { PROTOCOL, type Writer } from '../log/engine';
import { letOthersRun, within } from '../util/promises';
import { Remote } from '../util/remote';
import { Refusals, type RefusedCalls } from '../telemetry/refused-calls';
import type { Report, SentEvent, SupervisorFunctions, WorkerFunctions } from './protocol';

/** How long a worker that ends waits for the supervisor to take its report, in milliseconds. */
const LEAVE_TIMEOUT = 1000;

/** How long the supervisor may take to collect the refused calls of all workers, in milliseconds. */
const COLLECT_TIMEOUT = 2000;

/** Data longer than this are sent in parts of this length. */
const PART_CHARACTERS = 256 * 1024;

/** The supervisor as its worker sees it. */
type SupervisorRemote = Remote<SupervisorFunctions>;

/**
 * Returns the supervisor of this process.
 *
 * @throws {Error} the supervisor, which a new build does not replace, is of a build that speaks another protocol.
 */
export function findSupervisor({ common }: ProcessConfig): SupervisorRemote {
  if (common?.writerProtocol !== PROTOCOL)
    throw new Error(
      'This worker is of another build than its supervisor, and they speak to each other in different ways. Restart the service: ' +
        'SIGHUP cannot renew the workers across these builds.',
    );
  const supervisor: SupervisorRemote = new Remote((message) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
  });
  process.on('message', (message) => {
    supervisor.receive(message);
  });
  process.once('disconnect', () => {
    supervisor.end(new Error('the process that writes has ended'));
  });
  return supervisor;
}

/** Returns the log that the supervisor has open. */
export function writerOf(supervisor: SupervisorRemote): Writer {
  let divided = 0;
  const sendParts = async ({ data = '', ...event }: NewEvent): Promise<SentEvent> => {
    const dataParts = divided++;
    for (let start = 0; start < data.length; start += PART_CHARACTERS) {
      await letOthersRun();
      supervisor.tell('dataPart', { of: dataParts, text: data.slice(start, start + PART_CHARACTERS) });
    }
    return { ...event, data: undefined, dataParts };
  };
  return {
    async appendAll(events) {
      const sent: SentEvent[] = [];
      for (const event of events)
        sent.push((event.data?.length ?? 0) > PART_CHARACTERS ? await sendParts(event) : event);
      return supervisor.ask('appendAll', sent);
    },
    check: () => supervisor.ask('check'),
    newestOtherThan: (position) => supervisor.ask('newestOtherThan', position),
  };
}

/**
 * Tells the supervisor that this process is ready to answer, and calls `retire` when another one has taken its place.
 *
 * @returns sends the last report, so that it is not lost when the process ends. Never rejects.
 */
export function joinSupervisor(
  supervisor: SupervisorRemote,
  app: { readonly url: string; readonly metrics: Registry; readonly refusedCalls: RefusedCalls },
  retire: (why: string) => void,
): () => Promise<void> {
  const report = async (): Promise<Report> => {
    const figures = await app.metrics.getMetricsAsJSON();
    const { calls, counts } = app.refusedCalls.list();
    return { figures, refusals: calls, refusalCounts: counts };
  };
  // A terminal sends SIGHUP to the whole process group; it is meant for the supervisor alone.
  process.on('SIGHUP', () => undefined);
  supervisor.serve<WorkerFunctions>({
    report,
    retire() {
      retire('retire');
    },
  });
  supervisor.tell('ready', app.url);
  const leave = async () => supervisor.ask('leave', await report());
  return () => within(leave(), LEAVE_TIMEOUT, () => new Error('too late')).catch(() => undefined);
}

/** Returns a function that asks the supervisor for all workers' refusals; without an answer it has only those of this worker. */
export function refusalsOfAllWorkers(supervisor: SupervisorRemote): (own: RefusedCalls) => Promise<Refusals> {
  let asking: Promise<Refusals> | undefined;
  return (own) => {
    asking ??= within(supervisor.ask('refusals'), COLLECT_TIMEOUT, () => new Error('too late'))
      .then(({ calls, counts }) => new Refusals(calls, counts))
      .finally(() => {
        asking = undefined;
      });
    return asking.catch(() => own.list());
  };
}
