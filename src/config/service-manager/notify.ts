import { execFile } from 'node:child_process';

/** Tells the service manager of a state of this process, in the words of sd_notify(3). */
export type Notify = (state: 'READY=1' | 'RELOADING=1' | 'STOPPING=1') => void;

/**
 * Makes what tells the service manager that started this process, if it wants to know (`NOTIFY_SOCKET`), and removes that variable
 * from the environment. Node has no datagram sockets of the Unix domain, so the program `systemd-notify` sends the messages, one
 * after the other.
 *
 * @param failed - is told why a message could not be sent.
 */
export function notifier(environment: NodeJS.ProcessEnv, failed: (reason: string) => void): Notify {
  const { NOTIFY_SOCKET, PATH } = environment;
  delete environment.NOTIFY_SOCKET;
  if (NOTIFY_SOCKET === undefined) return () => undefined;
  const send = (message: readonly string[]): Promise<void> =>
    new Promise((resolve) => {
      execFile('systemd-notify', message, { env: { NOTIFY_SOCKET, PATH } }, (error) => {
        if (error !== null) failed(error.message);
        resolve();
      });
    });
  let sent = Promise.resolve();
  return (state) => {
    // A reload is told from one before it by the time when it began, in microseconds.
    const time = state === 'RELOADING=1' ? [`MONOTONIC_USEC=${String(process.hrtime.bigint() / 1000n)}`] : [];
    sent = sent.then(() => send([state, ...time]));
  };
}
