import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import {
  JetStreamApiError,
  jetstream,
  jetstreamManager,
  type JetStreamClient,
  type JetStreamManager,
} from '@nats-io/jetstream';
import {
  connect,
  credsAuthenticator,
  errors,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
  type Authenticator,
  type NatsConnection,
} from '@nats-io/transport-node';
import { Deferred, within } from '../../util/promises';
import type { JetStreamAddress, JetStreamLogin } from './address';

/** nats-server up to 2.10 answers the first code, later ones the second. */
const WRONG_LAST_SEQUENCE: ReadonlySet<number> = new Set([10071, 10164]);

/** The limit of an account or a server is reached, or a server has no storage left. */
const NO_RESOURCES: ReadonlySet<number> = new Set([10002, 10023, 10047]);

/** The servers of a cluster answer so until they have found each other. */
const NO_SUITABLE_PEERS = 10005;

/** How long a request waits for its answer, and the pause before it is sent again, in milliseconds. */
const REQUEST_TIMEOUT = 1000;
const RETRY_PAUSE = 50;
/** After this many unanswered pings, at this interval in milliseconds, a server is given up for another one. */
const PING_INTERVAL = 1000;
const MAX_PINGS_OUT = 2;
/** Pause before the next server is tried after a connection was lost, in milliseconds. */
const RECONNECT_PAUSE = 250;

/** A connection to a NATS cluster, which is restored whenever it is lost. */
export class JetStreamConnection {
  readonly client: JetStreamClient;
  /** While the connection is lost: resolves once it is restored. */
  #restored: Deferred | undefined;

  private constructor(
    private readonly connection: NatsConnection,
    readonly manager: JetStreamManager,
    private readonly timeout: number,
  ) {
    this.client = jetstream(connection, { timeout: REQUEST_TIMEOUT });
    void this.#watch();
  }

  /** @throws no server answers within the timeout (in milliseconds), the login is refused, or its file cannot be used. */
  static async open({ servers, tls, login }: JetStreamAddress, timeout: number): Promise<JetStreamConnection> {
    const deadline = performance.now() + timeout;
    const authenticator = login && authenticatorOf(login);
    for (;;) {
      try {
        const connection = await connect({
          servers: [...servers],
          ...(tls ? { tls: {} } : {}),
          ...(authenticator && { authenticator }),
          name: 'asmx-webhook',
          timeout: Math.max(1, Math.min(REQUEST_TIMEOUT, deadline - performance.now())),
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
        if (performance.now() + RETRY_PAUSE > deadline) throw unreachable(error);
        await delay(RETRY_PAUSE);
      }
    }
  }

  /** When a call that begins now gives up, in milliseconds of `performance.now`. */
  deadline(): number {
    return performance.now() + this.timeout;
  }

  /**
   * Sends a request, again while no server answers or no leader takes it. Requests made at one moment are sent in their order.
   *
   * @throws the last failure at the deadline; at once a failure that waiting cannot mend.
   */
  async retry<T>(deadline: number, request: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        // Nothing is sent while the connection is lost: it would be kept, sent late, and take up memory meanwhile.
        if (this.#restored) await within(this.#restored.promise, deadline - performance.now(), unreachable);
        return await within(request(), deadline - performance.now(), unanswered);
      } catch (error) {
        if (!mayPass(error) || performance.now() + RETRY_PAUSE >= deadline) throw explained(error);
        await delay(RETRY_PAUSE);
      }
    }
  }

  /** Maximum bytes of a message, as the server announced. */
  maxPayload(): number {
    return this.connection.info?.max_payload ?? Infinity;
  }

  async #watch(): Promise<void> {
    for await (const { type } of this.connection.status()) {
      if (type === 'disconnect') {
        this.#restored ??= new Deferred();
      } else if (type === 'reconnect') {
        this.#restored?.resolve();
        this.#restored = undefined;
      }
    }
  }

  /** Requests that are being retried fail at once. */
  async close(): Promise<void> {
    await this.connection.close();
    this.#restored?.resolve();
  }
}

/** @throws a file of credentials cannot be read, or is none. */
function authenticatorOf(login: JetStreamLogin): Authenticator {
  if ('token' in login) return tokenAuthenticator(login.token);
  if ('user' in login) return usernamePasswordAuthenticator(login.user, login.password);
  let credentials: Buffer | undefined;
  const read = () => {
    try {
      const renewed = readFileSync(login.file);
      credsAuthenticator(renewed)();
      credentials = renewed;
    } catch (cause) {
      // A file that is being renewed leaves the earlier credentials in place.
      if (credentials === undefined)
        throw new Error(`${login.file} is not a readable file of NATS credentials`, { cause });
    }
    return credentials;
  };
  read();
  return credsAuthenticator(read);
}

/** Thrown if a stream takes no messages as it is set up now: only an operator can mend that. */
export class StreamSettingsError extends Error {}

function unreachable(cause?: unknown): Error {
  return new Error('no NATS server can be reached', { cause });
}

function unanswered(): Error {
  return new Error('NATS did not answer in time');
}

/** Whether waiting may mend a failure. */
function mayPass(error: unknown): boolean {
  if (error instanceof JetStreamApiError)
    return !NO_RESOURCES.has(error.code) && (error.status >= 500 || error.code === NO_SUITABLE_PEERS);
  return !(
    error instanceof StreamSettingsError ||
    error instanceof errors.ClosedConnectionError ||
    error instanceof errors.InvalidArgumentError ||
    error instanceof errors.PermissionViolationError
  );
}

function explained(error: unknown): unknown {
  if (error instanceof JetStreamApiError && NO_RESOURCES.has(error.code))
    return new Error(`JetStream has no room for more events: ${error.message}`);
  if (error instanceof errors.TimeoutError) return unanswered();
  const failures = [error, (error as Error).cause];
  if (failures.some((one) => one instanceof errors.RequestError && one.isNoResponders()))
    return new Error('the stream has no leader, or does not exist');
  return error;
}

/** Whether a stream refused a message because of what its subject already has. */
export function isSubjectTaken(error: unknown): boolean {
  return error instanceof JetStreamApiError && WRONG_LAST_SEQUENCE.has(error.code);
}
