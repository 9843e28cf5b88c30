import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { ValueError } from '../util/errors';
import { EventLogError, type EventLogSettings } from './engine';
import type { EventLog } from './event-log';
import { jetStreamAddress } from './jetstream/address';
import { PARAMETER_NAMES, postgresAddress } from './postgres/address';

/** An event log that EVENT_LOG names. Nothing is loaded or made before `open`. */
export interface EventLogLocation {
  /** Without anything secret. */
  readonly name: string;
  /** The engine's name for people. */
  readonly engine: string;
  /** Set if the log ends with the process that opened it, which alone has it. */
  readonly isVolatile?: true;
  /** Whether it is known that there is no log yet. */
  isMissing?(): boolean;
  /** How events may be lost as the log is kept. */
  warning?(): string | undefined;

  /** @throws {EventLogError} it cannot be opened, or is missing and not to be created. The message names the location, but no password. */
  open(settings: EventLogSettings): Promise<EventLog>;

  /**
   * Replaces the events of the log by those of a backup; the log is copied before.
   *
   * @returns the name of the copy, if the log had events.
   * @throws {EventLogError} nothing was changed.
   */
  restore?(backup: string): Promise<string | undefined>;
}

/** An engine as EVENT_LOG chooses it. Its folder is loaded when a log is opened. */
interface EngineChoice {
  /** The schemes of its addresses, without the colon. */
  readonly schemes: readonly string[];
  /** How an address is written, after "must be". */
  readonly form: string;
  /**
   * @returns undefined if the text is not written as `form` says.
   * @throws {ValueError} saying what is allowed in a part of it, without any part of the address.
   */
  locate(text: string): EventLogLocation | undefined;
  /** The parameters of its addresses that hold no secret; undefined if nothing in them is secret. */
  readonly shown?: readonly string[];
}

const SQLITE: EngineChoice = {
  schemes: ['sqlite'],
  form: 'sqlite: and the path of a file, as in sqlite:data/events.db',
  locate(text) {
    const path = text.slice('sqlite:'.length);
    if (path === '') return undefined;
    // A host, as in the addresses of servers, not a folder in the root.
    if (/^\/\/[^/]/.test(path))
      throw new ValueError('must have one slash or none after sqlite: as in sqlite:data/events.db');
    const file = resolve(path);
    return {
      name: file,
      engine: 'SQLite',
      isMissing: () => !existsSync(file),
      warning() {
        if (!isMountPoint(file)) return undefined;
        return `${file} is mounted without its folder: the newest events are in ${file}-wal, and go with the container. Mount the folder.`;
      },
      async open({ create = true, retention, isShared, forgets }) {
        if (!create && !existsSync(file))
          throw new EventLogError(`There is no event log at ${file}. Set EVENT_LOG to where it is.`);
        const { openSqliteLog } = await import('./sqlite/event-log.js');
        return openSqliteLog({ file, create, retention, isShared, forgets });
      },
      async restore(backup) {
        const { restoreSqliteLog } = await import('./sqlite/event-log.js');
        return restoreSqliteLog(resolve(backup), file);
      },
    };
  },
};

const JETSTREAM: EngineChoice = {
  schemes: ['nats', 'tls'],
  form: 'the address of a NATS stream, as in nats://user:password@host1:4222,host2:4222/EVENTS?replicas=3',
  shown: ['replicas', 'creds'],
  locate(text) {
    const address = jetStreamAddress(text);
    if (address === undefined) return undefined;
    return {
      name: `${address.servers.join(',')}/${address.stream}`,
      engine: 'NATS JetStream',
      async open(settings) {
        const { openJetStreamLog } = await import('./jetstream/event-log.js');
        return openJetStreamLog({ ...settings, ...address });
      },
    };
  },
};

const POSTGRES: EngineChoice = {
  schemes: ['postgres', 'postgresql'],
  form: 'the address of a PostgreSQL database, as in postgres://user@host1:5432,host2:5432/database',
  shown: PARAMETER_NAMES,
  locate(text) {
    const address = postgresAddress(text);
    if (address === undefined) return undefined;
    return {
      name: `${address.hosts.map(({ host, port }) => `${host}:${String(port)}`).join(',')}/${address.database}`,
      engine: 'PostgreSQL',
      async open(settings) {
        const { openPostgresLog } = await import('./postgres/event-log.js');
        return openPostgresLog({ ...settings, ...address });
      },
    };
  },
};

const MEMORY: EngineChoice = {
  schemes: ['memory'],
  form: 'memory: for a log that ends with the service',
  locate(text) {
    if (text !== 'memory:') return undefined;
    return {
      name: 'memory',
      engine: 'memory',
      isVolatile: true,
      warning: () => 'Events are lost when the service ends, as EVENT_LOG=memory: says',
      async open({ retention, create = true }) {
        if (!create) throw new EventLogError('Only the service that keeps its events in memory has them.');
        const { openMemoryLog } = await import('./memory/event-log.js');
        return openMemoryLog(retention);
      },
    };
  },
};

const ENGINES: readonly EngineChoice[] = [SQLITE, JETSTREAM, POSTGRES, MEMORY];

/** Reads the addresses in EVENT_LOG. */
export const eventLogAddress = {
  /** @throws {ValueError} saying what is allowed, without any part of the address. */
  locate(this: void, text: string): EventLogLocation {
    const engine = engineOf(text);
    const location = engine?.locate(text);
    if (location !== undefined) return location;
    throw new ValueError(`must be ${(engine ? [engine] : ENGINES).map(({ form }) => form).join(', or ')}`);
  },

  /** Hides what stands before an `@` and in parameters that may be secret, also in an address that is written wrong. */
  withoutSecrets(this: void, text: string): string {
    const { shown }: Pick<EngineChoice, 'shown'> = engineOf(text) ?? { shown: [] };
    if (shown === undefined) return text;
    return text
      .replace(/^([a-z]+:\/\/)?.*@/is, '$1***@')
      .replace(/([?&]([^=&]*)=)[^&]*/g, (parameter, start: string, name: string) =>
        shown.includes(name) ? parameter : `${start}***`,
      );
  },
};

function engineOf(text: string): EngineChoice | undefined {
  return ENGINES.find(({ schemes }) => schemes.some((scheme) => text.startsWith(`${scheme}:`)));
}

/** Whether a file, or that to which a symbolic link leads, is a mount of its own. Linux alone says so: proc_pid_mountinfo(5). */
function isMountPoint(path: string): boolean {
  try {
    const escaped = realpathSync(path).replace(
      /[ \t\n\\]/g,
      (one) => `\\${one.charCodeAt(0).toString(8).padStart(3, '0')}`,
    );
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    return mounts.some((mount) => mount.split(' ')[4] === escaped);
  } catch {
    return false;
  }
}
