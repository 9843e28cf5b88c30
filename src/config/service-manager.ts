import { execFile } from 'node:child_process';
import cluster from 'node:cluster';
import { Socket, type AddressInfo } from 'node:net';
import type { Config } from './config';
import { ConfigError } from './variable';

/** The first descriptor that a service manager passes on (`SD_LISTEN_FDS_START`). */
const FIRST_DESCRIPTOR = 3;

/** `FileDescriptorName=` of the sockets, by what they are for. */
const NAMES = { public: 'webhook', admin: 'admin' };

/**
 * Puts the sockets that a service manager passed on, as sd_listen_fds(3) says, in the place of the addresses that are configured.
 * Their names distinguish them; one alone is the public one, whatever its name, unless that is `admin`. Removes the variables
 * that tell of them from the environment, so that no child process takes them for its own.
 *
 * @throws {ConfigError} a socket has an unknown name, or is not one to listen on.
 */
export function withInheritedSockets(config: Config, environment: NodeJS.ProcessEnv): Config {
  const { LISTEN_PID: pid, LISTEN_FDS: count, LISTEN_FDNAMES: names = '' } = environment;
  for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES']) Reflect.deleteProperty(environment, name);
  // A supervisor cannot know the process id of a worker before it starts it.
  if (pid !== String(process.pid) && !(cluster.isWorker && pid === String(process.ppid))) return config;
  const passed = namesOf(Number(count), names.split(':'));
  const inherit = (name: string) => (passed.includes(name) ? inheritedAddress(passed, name) : undefined);
  const admin = inherit(NAMES.admin) ?? config.admin;
  return { ...config, ...inherit(NAMES.public), admin };
}

/** The variables that tell a worker of the public socket, which is its descriptor 3. */
export function environmentOfInherited(): Readonly<Record<string, string>> {
  return { LISTEN_PID: String(process.pid), LISTEN_FDS: '1', LISTEN_FDNAMES: NAMES.public };
}

function namesOf(count: number, names: readonly string[]): readonly string[] {
  if (count === 1) return [names[0] === NAMES.admin ? NAMES.admin : NAMES.public];
  const passed = Array.from({ length: count }, (_value, i) => names[i] ?? '');
  const known: readonly string[] = Object.values(NAMES);
  if (passed.some((name) => !known.includes(name)) || new Set(passed).size !== passed.length)
    throw new ConfigError(
      `LISTEN_FDNAMES=${names.join(':')}: must name each socket ${known.join(' or ')}, and no two the same; ` +
        'set FileDescriptorName in the socket units, and one ListenStream in each',
    );
  return passed;
}

function inheritedAddress(passed: readonly string[], name: string) {
  const fd = FIRST_DESCRIPTOR + passed.indexOf(name);
  const inherited = { fd, handle: handleOf(fd, name) };
  const { address, port } = inherited.handle.address() as Partial<AddressInfo>;
  if (address === undefined || port === undefined || inherited.handle.remoteAddress !== undefined)
    throw unusable(fd, name);
  return { host: address, port, inherited };
}

function handleOf(fd: number, name: string): Socket {
  try {
    // Neither readable nor writable, so that nothing is read from a socket that only listens.
    return new Socket({ fd, readable: false, writable: false });
  } catch {
    throw unusable(fd, name);
  }
}

function unusable(fd: number, name: string): ConfigError {
  return new ConfigError(
    `LISTEN_FDS: descriptor ${String(fd)} (${name}) must be a TCP socket that listens; ` +
      'set ListenStream to a port, or an address and a port, and Accept=no in the socket unit',
  );
}

/** The service manager that started this process, if one did and wants to be notified (sd_notify(3)). */
export class ServiceManager {
  readonly #environment: NodeJS.ProcessEnv | undefined;
  readonly #failed: (reason: string) => void;
  #sent = Promise.resolve();

  /**
   * Removes the variable that says where messages go (`NOTIFY_SOCKET`) from the environment.
   *
   * @param failed - called with the reason why a message could not be sent.
   */
  constructor(environment: NodeJS.ProcessEnv, failed: (reason: string) => void) {
    const { NOTIFY_SOCKET, PATH } = environment;
    delete environment.NOTIFY_SOCKET;
    this.#environment = NOTIFY_SOCKET === undefined ? undefined : { NOTIFY_SOCKET, PATH };
    this.#failed = failed;
  }

  /** Sends a state of this process, one message at a time. */
  notify(state: 'READY=1' | 'RELOADING=1' | 'STOPPING=1'): void {
    const env = this.#environment;
    if (env === undefined) return;
    // The time when it began, in microseconds, distinguishes a reload from the one before it.
    const time = state === 'RELOADING=1' ? [`MONOTONIC_USEC=${String(process.hrtime.bigint() / 1000n)}`] : [];
    this.#sent = this.#sent.then(() => this.#send([state, ...time], env));
  }

  /** With the program `systemd-notify`, as Node has no datagram sockets of the Unix domain. */
  #send(message: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
    return new Promise((resolve) => {
      execFile('systemd-notify', message, { env }, (error) => {
        if (error !== null) this.#failed(error.message);
        resolve();
      });
    });
  }
}
