import type { Registry } from 'prom-client';
import { within } from '../lang/within';
import type { FromWorker, ToWorker } from './messages';

/** How long a worker that ends waits for the supervisor to take its figures, in milliseconds. */
const LEAVE_TIMEOUT = 1000;

/** Connects a worker process to its supervisor. */
export interface Membership {
  /** Sends the last figures, so that no count is lost when the process ends. Never rejects. */
  leave(): Promise<void>;
}

/** Tells the supervisor that this process is ready to answer, and calls `retire` when another one has taken its place. */
export function joinSupervisor(
  app: { readonly url: string; readonly metrics: Registry },
  retire: (why: string) => void,
): Membership {
  const sendFigures = async (): Promise<void> => {
    await send({ figures: await app.metrics.getMetricsAsJSON() });
  };
  // A terminal sends SIGHUP to the whole process group; it is meant for the supervisor alone.
  process.on('SIGHUP', () => undefined);
  process.on('message', (message: ToWorker) => {
    if (message === 'retire') retire(message);
    else if (message === 'figures') sendFigures().catch(() => undefined);
  });
  send({ ready: app.url }).catch(() => undefined);
  return {
    leave: () => within(sendFigures(), LEAVE_TIMEOUT, () => new Error('too late')).catch(() => undefined),
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
