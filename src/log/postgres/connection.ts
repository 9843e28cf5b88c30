import { setTimeout as delay } from 'node:timers/promises';
import { Client, DatabaseError, Pool, type ClientBase, type ClientConfig, type PoolClient } from 'pg';
import pgpass, { type PasswordOf } from 'pgpass';
import { within } from '../../util/promises';
import type { EventLogSettings } from '../event-log';
import { PASSWORDS, type PostgresAddress } from './address';

/** How long a host may take to let a connection in, in milliseconds. */
const CONNECT_TIMEOUT = 2000;
/** Pause before a failed call is tried again, in milliseconds. */
const RETRY_PAUSE = 50;

/** The oldest server that has all that the log uses. */
const OLDEST = 12;

/** The SQLSTATEs of failures that pass: a lost connection, a deadlock, a server that is read-only, full, starting or ending. */
const PASSING = /^(?:08|40|25006|53300|57P0)/;

/** Thrown for a server that no event may be sent to, whatever is tried. */
class UnfitServerError extends Error {}

/** The connections to a database, on the one of its hosts that takes writes. They are restored whenever they are lost. */
export class PostgresConnection {
  readonly #address: PostgresAddress;
  readonly #settings: EventLogSettings;
  readonly #authorities: string | undefined;
  #pool: Pool;
  #host = 0;
  #isEncrypted: boolean;

  /**
   * Connects when it is first used.
   *
   * @param settings - if there is no password in them, `PGPASSWORD` or `PGPASSFILE` gives it.
   * @param authorities - the certificates in the file `sslrootcert`, in PEM.
   */
  constructor(address: PostgresAddress, settings: EventLogSettings, authorities: string | undefined) {
    this.#address = address;
    this.#settings = settings;
    this.#authorities = authorities;
    this.#isEncrypted = address.sslmode !== 'disable';
    this.#pool = this.#newPool();
  }

  /** When a call that begins now gives up, as `performance.now` tells the time. */
  deadline(): number {
    return performance.now() + this.#settings.timeout;
  }

  /** Runs one statement, and again while the failure may pass. */
  async query<Row extends object>(
    sql: string,
    values?: readonly unknown[],
    deadline = this.deadline(),
  ): Promise<Row[]> {
    return this.run(async (client) => (await client.query<Row>(sql, values && [...values])).rows, deadline);
  }

  /**
   * Runs an action on a connection, and again while its failure may pass.
   *
   * @param deadline - when it fails for want of an answer; may be Infinity.
   * @param retries - from when on it is not run again.
   * @param action - gets to know whether an earlier attempt may have done its work all the same: its answer was lost.
   */
  async run<T>(
    action: (client: PoolClient, isRepeated: boolean) => Promise<T>,
    deadline: number,
    retries = Math.min(deadline, this.deadline()),
  ): Promise<T> {
    for (let isRepeated = false; ;) {
      const pool = this.#pool;
      let client: PoolClient | undefined;
      let failure: Error | undefined;
      try {
        client = await pool.connect();
        const done = action(client, isRepeated);
        if (deadline === Infinity) return await done;
        return await within(done, deadline - performance.now(), () => new Error('no answer in time'));
      } catch (error) {
        failure = error as Error;
        isRepeated ||= client !== undefined;
        if (isLost(failure)) this.#leave(pool, failure);
        if (!mayPass(failure) || performance.now() + RETRY_PAUSE > retries) throw explained(failure);
      } finally {
        client?.release(failure !== undefined && isLost(failure));
      }
      await delay(RETRY_PAUSE);
    }
  }

  /**
   * Opens a connection of its own, for notifications; its caller ends it.
   *
   * @returns undefined if a pooler answers in place of the server: it gives clients a number of its own, and each transaction another
   * connection to the server, on which notifications are lost.
   */
  async listener(): Promise<Client | undefined> {
    const client: Client & { readonly processID?: number | null } = new Client(this.#config());
    try {
      await client.connect();
      await this.#require(client);
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      if (rows[0]?.pid === client.processID) return client;
      await client.end();
      return undefined;
    } catch (error) {
      await client.end();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  /** Goes on with new connections, to the next host; those that are in use end when they are released. */
  #leave(pool: Pool, failure: Error): void {
    if (pool !== this.#pool) return;
    const { hosts, sslmode } = this.#address;
    this.#isEncrypted = sslmode !== 'disable' && !(sslmode === 'prefer' && failure.message.includes(NO_TLS));
    if (this.#isEncrypted || sslmode === 'disable') this.#host = (this.#host + 1) % hosts.length;
    this.#pool = this.#newPool();
    void pool.end();
  }

  #newPool(): Pool {
    const pool = new Pool({
      ...this.#config(),
      max: this.#address.connections,
      // The pool waits for it, which its types do not say.
      onConnect: (client): unknown => this.#require(client),
    });
    // The next call finds out.
    pool.on('error', () => undefined);
    return pool;
  }

  #config(): ClientConfig {
    const { hosts, database, user, sslmode } = this.#address;
    const { password = process.env.PGPASSWORD, timeout } = this.#settings;
    const authorities = this.#authorities;
    const verifies = sslmode.startsWith('verify-') || (sslmode === 'require' && authorities !== undefined);
    return {
      ...hosts[this.#host],
      database,
      user,
      password: password ?? passwordFromFile,
      ssl: this.#isEncrypted && {
        rejectUnauthorized: verifies,
        ca: authorities,
        ...(sslmode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
      },
      application_name: 'asmx-webhook',
      connectionTimeoutMillis: Math.min(CONNECT_TIMEOUT, timeout),
      keepAlive: true,
    };
  }

  /** Refuses a server that would not keep the log as it is promised. */
  async #require(client: ClientBase): Promise<void> {
    // A lost connection fails its statement, too.
    client.on('error', () => undefined);
    const { rows } = await client.query<Record<'standby' | 'version' | 'encoding' | 'fsync' | 'commit', string>>(
      `SELECT pg_is_in_recovery()::text AS standby, current_setting('server_version_num') AS version,
              current_setting('server_encoding') AS encoding, current_setting('fsync') AS fsync,
              current_setting('synchronous_commit') AS commit`,
    );
    const { standby, version = '', encoding, fsync, commit } = rows[0] ?? {};
    if (standby === 'true') throw new Error('the server is a standby, which takes no events');
    const major = Math.floor(Number(version) / 10_000);
    if (major < OLDEST)
      throw new UnfitServerError(`the server is PostgreSQL ${String(major)}; the log needs ${String(OLDEST)} or later`);
    if (encoding !== 'UTF8')
      throw new UnfitServerError(`the database has the encoding ${String(encoding)}; create one with ENCODING 'UTF8'`);
    if ((fsync === 'off' || commit === 'off') && !this.#address.isRelaxed) {
      throw new UnfitServerError(
        `the server has ${fsync === 'off' ? 'fsync' : 'synchronous_commit'} = off, and may lose events that were answered; ` +
          'turn it on, or add ?durability=relaxed to EVENT_LOG',
      );
    }
  }
}

/** Whether the connection cannot be used any more. */
function isLost(error: Error): boolean {
  return error instanceof DatabaseError ? /^(?:08|25006|57P0)/.test(error.code ?? '') : error.message !== ALL_BUSY;
}

function mayPass(error: Error): boolean {
  if (error instanceof UnfitServerError) return false;
  return error instanceof DatabaseError ? PASSING.test(error.code ?? '') : true;
}

/** Messages of the library: the server has no TLS, and every connection is in use. */
const NO_TLS = 'does not support SSL';
const ALL_BUSY = 'timeout exceeded when trying to connect';

/**
 * Called if the server asks for a password and none was given.
 *
 * @param connection - its library gives it, which its types do not say.
 */
async function passwordFromFile(connection?: PasswordOf): Promise<string> {
  const password = await new Promise<string | undefined>((resolve) => {
    pgpass(connection ?? {}, resolve);
  });
  if (password !== undefined) return password;
  throw new UnfitServerError(`the server asks for a password: give it in ${PASSWORDS}`);
}

/** Adds what helps to the message of a server. */
function explained(error: Error): Error {
  const hint = HINTS.get((error as DatabaseError).code ?? '');
  return hint === undefined ? error : new Error(`${error.message}; ${hint}`, { cause: error });
}

/** Whether a call failed since the disk of the server is full. */
export function isWithoutRoom(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof DatabaseError && error.cause.code === DISK_FULL;
}

const DISK_FULL = '53100';

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
  [DISK_FULL, 'the disk of the database is full'],
]);
