import { setTimeout as delay } from 'node:timers/promises';
import { JetStreamApiError, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import { connect, errors, type NatsConnection } from '@nats-io/transport-node';

/** Where a NATS cluster is, and as whom to connect. */
export interface NatsAddress {
  /** `host:port` of each server that may be asked first; the cluster tells of the others. */
  readonly servers: readonly string[];
  readonly tls: boolean;
  readonly user: string | undefined;
  /** Secret. */
  readonly password: string | undefined;
}

/** Said while the servers of a cluster have not found each other yet. */
const NO_SUITABLE_PEERS = 10005;

/** How long one request waits for its answer before it is sent again, in milliseconds, where the call has the time. */
const REQUEST_TIMEOUT = 1000;
/** Pause before a request that failed is sent again, in milliseconds. */
const RETRY_PAUSE = 50;
/** A server that does not answer this many pings, sent this many milliseconds apart, is given up for another one. */
const PING_INTERVAL = 1000;
const MAX_PINGS_OUT = 2;
/** Pause before the next server is tried when a connection was lost, in milliseconds. */
const RECONNECT_PAUSE = 250;

/** A connection to a NATS cluster that is restored for ever. */
export class JetStreamConnection {
  /** How long a call waits, in milliseconds. */
  readonly #timeout: number;
  readonly #connection: NatsConnection;
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  /** While the connection is lost: resolves when it is there again. */
  #lost: { readonly restored: Promise<void>; readonly restore: () => void } | undefined;

  private constructor(connection: NatsConnection, manager: JetStreamManager, timeout: number) {
    this.#connection = connection;
    this.#timeout = timeout;
    this.client = jetstream(connection, { timeout: REQUEST_TIMEOUT });
    this.manager = manager;
    void this.#watch();
  }

  /**
   * Connects to the first server that answers.
   *
   * @throws none answers within the timeout (in milliseconds), or the user is refused.
   */
  static async open(address: NatsAddress, timeout: number): Promise<JetStreamConnection> {
    const deadline = Date.now() + timeout;
    for (;;) {
      try {
        const connection = await connect({
          servers: [...address.servers],
          ...(address.tls ? { tls: {} } : {}),
          ...(address.user === undefined ? {} : { user: address.user, pass: address.password ?? '' }),
          name: 'asmx-webhook',
          timeout: Math.max(1, Math.min(REQUEST_TIMEOUT, deadline - Date.now())),
          maxReconnectAttempts: -1,
          reconnectTimeWait: RECONNECT_PAUSE,
          ignoreAuthErrorAbort: true,
          pingInterval: PING_INTERVAL,
          maxPingOut: MAX_PINGS_OUT,
          noAsyncTraces: true,
        });
        const manager = await jetstreamManager(connection, { timeout: REQUEST_TIMEOUT, checkAPI: false });
        return new JetStreamConnection(connection, manager, timeout);
      } catch (error) {
        if (error instanceof errors.AuthorizationError) throw error;
        if (Date.now() + RETRY_PAUSE > deadline) throw new Error(UNREACHABLE, { cause: error });
        await delay(RETRY_PAUSE);
      }
    }
  }

  /** The time, as `Date.now` tells it, at which a call that begins now gives up. */
  deadline(): number {
    return Date.now() + this.#timeout;
  }

  /**
   * Does what may fail for a while, again and again until it works: requests that are not answered, or that no leader
   * takes. Requests that were made at one moment are sent in their order.
   *
   * @throws what went wrong last, when the deadline has come; at once what will not be mended by waiting.
   */
  async persist<T>(deadline: number, action: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        // Nothing is sent while the connection is lost: it would be kept, sent late, and take up memory meanwhile.
        if (this.#lost !== undefined) await before(deadline, this.#lost.restored, UNREACHABLE);
        return await before(deadline, action(), 'NATS did not answer in time');
      } catch (error) {
        if (!mayPass(error)) throw error;
        if (Date.now() + RETRY_PAUSE >= deadline) throw explained(error);
        await delay(RETRY_PAUSE);
      }
    }
  }

  /** Most bytes that a message may have, as the server said. */
  maxPayload(): number {
    return this.#connection.info?.max_payload ?? Infinity;
  }

  async #watch(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type === 'disconnect') {
        if (this.#lost !== undefined) continue;
        let restore = (): void => undefined;
        const restored = new Promise<void>((resolve) => {
          restore = resolve;
        });
        this.#lost = { restored, restore };
      } else if (type === 'reconnect') {
        this.#lost?.restore();
        this.#lost = undefined;
      }
    }
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

/** What a promise resolves to, unless the deadline comes first. */
async function before<T>(deadline: number, promise: Promise<T>, late: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const lateness = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new LateError(late));
    }, deadline - Date.now());
  });
  try {
    return await Promise.race([promise, lateness]);
  } finally {
    clearTimeout(timer);
  }
}

const UNREACHABLE = 'no NATS server can be reached';

class LateError extends Error {}

/** Whether waiting may mend it: no answer, no leader, no connection, or a fault of the server's. */
function mayPass(error: unknown): boolean {
  if (error instanceof JetStreamApiError) return error.status >= 500 || error.code === NO_SUITABLE_PEERS;
  return !(
    error instanceof errors.ClosedConnectionError ||
    error instanceof errors.InvalidArgumentError ||
    error instanceof errors.PermissionViolationError
  );
}

/** Says in this program's terms what the library says in its own. */
function explained(error: unknown): unknown {
  if (error instanceof LateError || error instanceof JetStreamApiError) return error;
  if (error instanceof errors.TimeoutError) return new Error('NATS did not answer in time', { cause: undefined });
  const cause = (error as Error).cause;
  const request = error instanceof errors.RequestError ? error : cause;
  if (request instanceof errors.RequestError && request.isNoResponders()) return new Error('the stream has no leader');
  return error;
}
