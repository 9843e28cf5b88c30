import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseError, Pool, type Client, type ClientBase, type PoolClient } from 'pg';
import pgpass from 'pgpass';
import { within } from '../../util/promises';
import type { EventLogSettings } from '../engine';
import { PASSWORDS, type PostgresAddress } from './address';

/** Which event log of a server is opened, and how. */
export type PostgresOptions = PostgresAddress & EventLogSettings;

/** How long a host may take to let a connection in, in milliseconds. */
const CONNECT_TIMEOUT = 2000;
/** Pause before a failed call is tried again, in milliseconds. */
const RETRY_PAUSE = 50;

/** The oldest server that has all that the log uses. */
const OLDEST = 12;

/** Thrown for a server that no event may be sent to, whatever is tried. */
class UnfitServerError extends Error {}

/** Thrown for a statement or a new connection that the server did not answer in time. */
class ServerTimeoutError extends Error {}

const unanswered = () => new ServerTimeoutError('no answer in time');

/** The connections to a database, on the one of its hosts that takes writes. Lost ones are replaced. */
export class PostgresConnection {
  #pool: Pool;
  #host = 0;
  #isEncrypted: boolean;
  readonly #connectTimeout: number;

  /** Connects when it is first used. @param authorities - the certificates in the file `sslrootcert`, in PEM. */
  constructor(
    private readonly options: PostgresOptions,
    private readonly authorities: string | undefined,
  ) {
    this.#isEncrypted = options.sslmode !== 'disable';
    this.#connectTimeout = Math.min(CONNECT_TIMEOUT, options.timeout);
    this.#pool = this.#newPool();
  }

  /** When a call that has waited already gives up, in milliseconds of `performance.now`; each gets at least a fifth of the timeout. */
  deadline(waited = 0): number {
    const { timeout } = this.options;
    return performance.now() + Math.max(timeout - waited, timeout / 5);
  }

  /** As {@link run}, for one statement. */
  query<Row extends object>(sql: string, values?: readonly unknown[], deadline = this.deadline()): Promise<Row[]> {
    return this.run(async (client) => (await client.query<Row>(sql, values && [...values])).rows, deadline);
  }

  /**
   * Runs an action on a connection, and again while its failure may pass.
   *
   * @param action - `isRepeated` says that an earlier attempt may have done its work, and its answer was lost.
   * @param deadline - when it fails for want of an answer; may be Infinity.
   */
  async run<T>(action: (client: PoolClient, isRepeated: boolean) => Promise<T>, deadline: number): Promise<T> {
    const retryUntil = Math.min(deadline, this.deadline());
    let begun = 0;
    for (let reason: Error | undefined; ; await delay(RETRY_PAUSE)) {
      try {
        return await this.#attempt((client) => action(client, begun++ > 0), retryUntil, deadline);
      } catch (error) {
        const failure = error as Error;
        // An earlier failure says more than a time-out or a refusal of TLS.
        if (reason === undefined || !(failure instanceof ServerTimeoutError || isWithoutTls(failure))) reason = failure;
        const canRetry = mayPass(failure) && !this.#pool.ending && performance.now() + RETRY_PAUSE <= retryUntil;
        if (!canRetry) throw explained(reason);
      }
    }
  }

  async #attempt<T>(action: (client: PoolClient) => Promise<T>, connectUntil: number, deadline: number): Promise<T> {
    const pool = this.#pool;
    const client = await this.#connected(pool, connectUntil);
    try {
      const done = action(client);
      return await (deadline === Infinity ? done : within(done, deadline - performance.now(), unanswered));
    } catch (error) {
      if (error instanceof ServerTimeoutError) cancelStatement(client);
      this.#leaveIfLost(pool, error as Error);
      throw error;
    } finally {
      client.release();
    }
  }

  /** Takes a connection of a pool; one that comes too late is given back. */
  async #connected(pool: Pool, deadline: number): Promise<PoolClient> {
    const connecting = pool.connect();
    // Also after the deadline, which does not tell a host that is away from connections that are all in use.
    connecting.catch((error: unknown) => this.#leaveIfLost(pool, error as Error));
    try {
      return await within(connecting, deadline - performance.now(), unanswered);
    } catch (error) {
      void connecting.then((late) => late.release()).catch(() => undefined);
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  /** After a lost connection goes on with new ones, to the next host or without TLS; those in use end when they are released. */
  #leaveIfLost(pool: Pool, failure: Error): void {
    if (!isLost(failure) || pool !== this.#pool || pool.ending) return;
    const { hosts, sslmode } = this.options;
    const isRetriedWithoutTls = sslmode === 'prefer' && isWithoutTls(failure);
    this.#isEncrypted = sslmode !== 'disable' && !isRetriedWithoutTls;
    if (!isRetriedWithoutTls) this.#host = (this.#host + 1) % hosts.length;
    this.#pool = this.#newPool();
    void pool.end();
  }

  #newPool(): Pool {
    const { hosts, database, user, password = passwordFromFile, sslmode, connections } = this.options;
    const host = hosts[this.#host];
    const verifies = sslmode.startsWith('verify-') || (sslmode === 'require' && this.authorities !== undefined);
    const pool = new Pool({
      ...host,
      database,
      user,
      password,
      ssl: this.#isEncrypted &&
        host?.host.startsWith('/') !== true && {
          rejectUnauthorized: verifies,
          ca: this.authorities,
          ...(sslmode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
        },
      application_name: 'asmx-webhook',
      connectionTimeoutMillis: this.#connectTimeout,
      keepAlive: true,
      max: connections,
      allowExitOnIdle: true,
      // The pool waits for it, which its types do not say.
      onConnect: (client): unknown => this.#requireFit(client),
    });
    // The next call finds out.
    pool.on('error', () => undefined);
    return pool;
  }

  /** Refuses a server that would not keep the log as it is promised. */
  async #requireFit(client: ClientBase): Promise<void> {
    // A lost connection fails its statement, too.
    client.on('error', () => undefined);
    const answer = client.query<Record<'standby' | 'version' | 'encoding' | 'fsync' | 'commit', string>>(
      `SELECT pg_is_in_recovery()::text AS standby, current_setting('server_version_num') AS version,
              current_setting('server_encoding') AS encoding, current_setting('fsync') AS fsync,
              current_setting('synchronous_commit') AS commit`,
    );
    const { rows } = await within(answer, this.#connectTimeout, unanswered);
    const { standby, version = '', encoding, fsync, commit } = rows[0] ?? {};
    if (standby === 'true') throw new Error('the server is a standby, which takes no events');
    const major = Math.floor(Number(version) / 10_000);
    if (major < OLDEST)
      throw new UnfitServerError(`the server is PostgreSQL ${String(major)}; the log needs ${String(OLDEST)} or later`);
    if (encoding !== 'UTF8')
      throw new UnfitServerError(`the database has the encoding ${String(encoding)}; create one with ENCODING 'UTF8'`);
    this.requireDurable(fsync, commit);
  }

  /** @throws {UnfitServerError} the server may lose what it commits, and the operator has not accepted that. */
  requireDurable(fsync: string | undefined, commit: string | undefined): void {
    if ((fsync !== 'off' && commit !== 'off') || this.options.isRelaxed) return;
    throw new UnfitServerError(
      `the server has ${fsync === 'off' ? 'fsync' : 'synchronous_commit'} = off, and may lose events that were answered; ` +
        'turn it on, or add ?durability=relaxed to EVENT_LOG',
    );
  }
}

/** Runs statements; resolves to their result, with the warning that the server gave, if any. */
export async function withWarning<Result extends object>(client: ClientBase, statements: () => Promise<Result>) {
  let warning: string | undefined;
  const notice = ({ code, message }: Record<'code' | 'message', string | undefined>) => {
    if (code === WARNING) warning = message;
  };
  client.on('notice', notice);
  const result = await statements().finally(() => client.off('notice', notice));
  return { ...result, warning };
}

const WARNING = '01000';

/** PostgreSQL's documentation, section 55.7. */
const CANCEL_REQUEST = 80877102;

/** Members that the types of the library leave out. */
type Cancellable = PoolClient &
  Partial<Record<'processID' | 'secretKey', number | null> & Pick<Client, 'host' | 'port'>>;

/** Asks the server to give up the statement of a connection, which would wait on for a lock, say. There is no answer. */
function cancelStatement({ processID, secretKey, host = '', port = 0 }: Cancellable): void {
  if (typeof processID !== 'number' || typeof secretKey !== 'number') return;
  const request = Buffer.alloc(16);
  for (const [i, number] of [request.length, CANCEL_REQUEST, processID, secretKey].entries())
    request.writeInt32BE(number, 4 * i);
  const socket = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${String(port)}` } : { host, port });
  socket
    .setTimeout(CONNECT_TIMEOUT, () => socket.destroy())
    .on('error', () => undefined)
    .unref()
    .end(request);
}

/** Called if the server asks for a password and none was given. @param connection - its types do not have it. */
async function passwordFromFile(connection: object = {}): Promise<string> {
  const password = await new Promise<string | undefined>((resolve) => pgpass(connection, resolve));
  if (password !== undefined) return password;
  throw new UnfitServerError(`the server asks for a password: give it in ${PASSWORDS}`);
}

/** The SQLSTATEs of a lost connection, and of a server that is read-only, starting or ending. */
const LOST = /^(?:08|25006|57P0)/;
/** The SQLSTATEs of other failures that pass: a deadlock, a server with too many connections. */
const PASSING = /^(?:40|53300)/;

/** The message of the library if every connection is in use. */
const ALL_BUSY = 'timeout exceeded when trying to connect';

function isWithoutTls(error: Error): boolean {
  return error.message.includes('does not support SSL');
}

/** True if the service should leave the host. */
function isLost(error: Error): boolean {
  return error instanceof DatabaseError ? LOST.test(error.code ?? '') : error.message !== ALL_BUSY;
}

/** Whether another attempt may succeed. */
function mayPass(error: Error): boolean {
  if (error instanceof DatabaseError) return isLost(error) || PASSING.test(error.code ?? '');
  return !(error instanceof UnfitServerError);
}

/** Adds what helps to the message of a server. */
function explained(error: Error): Error {
  const hint = HINTS.get((error as DatabaseError).code ?? '');
  if (hint !== undefined && !error.message.endsWith(hint)) error.message += `; ${hint}`;
  return error;
}

const HINTS: ReadonlyMap<string, string> = new Map([
  ...['SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'].map(
    (code): [string, string] => [code, 'name the file of its authority in sslrootcert'],
  ),
  ['28P01', `see ${PASSWORDS}`],
  ['3D000', "create it, with ENCODING 'UTF8'"],
  [
    '42501',
    'the role has to own the tables of the log, and to create them needs CREATE on the first schema of its search_path',
  ],
  ['53100', 'the disk of the database is full'],
]);
