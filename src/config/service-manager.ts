import { execFile } from 'node:child_process';
import { isatty } from 'node:tty';
import { promisify } from 'node:util';

/** The service manager that started this process, if one did and wants to be notified (sd_notify(3)). */
export class ServiceManager {
  readonly #environment: NodeJS.ProcessEnv | undefined;
  #sent = Promise.resolve();

  /** Takes `NOTIFY_SOCKET` out of the environment of this process. `failed` is called with the reason if a message cannot be sent. */
  constructor(private readonly failed: (reason: string) => void) {
    const { NOTIFY_SOCKET, PATH } = process.env;
    delete process.env.NOTIFY_SOCKET;
    this.#environment = NOTIFY_SOCKET === undefined ? undefined : { NOTIFY_SOCKET, PATH };
  }

  /** Calls `reload` on SIGHUP, once at a time; or `stop` if a terminal was closed, for which alone Windows sends it. */
  onHangUp(reload: () => Promise<void>, stop: () => void): void {
    const hadTerminal = isatty(1);
    let reloading = Promise.resolve();
    process.on('SIGHUP', () => {
      if (process.platform === 'win32' || (hadTerminal && !isatty(1))) {
        stop();
        return;
      }
      this.notify('RELOADING=1');
      reloading = reloading.then(reload).then(() => this.notify('READY=1'));
    });
  }

  notify(state: 'READY=1' | 'RELOADING=1' | 'STOPPING=1'): void {
    const env = this.#environment;
    if (env === undefined) return;
    // systemd distinguishes reloads by the time when each began, in microseconds.
    const time = state === 'RELOADING=1' ? [`MONOTONIC_USEC=${String(process.hrtime.bigint() / 1000n)}`] : [];
    this.#sent = this.#sent
      // Node has no datagram sockets of the Unix domain.
      .then(async () => void (await promisify(execFile)('systemd-notify', [state, ...time], { env })))
      .catch(({ message }: Error) => this.failed(message));
  }
}
