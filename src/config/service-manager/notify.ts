import { execFile } from 'node:child_process';

/** Tells the service manager of a state of this process, in the words of sd_notify(3). */
export type Notify = (state: 'READY=1' | 'STOPPING=1') => void;

/**
 * Makes what tells the service manager that started this process, if it wants to know (`NOTIFY_SOCKET`), and removes that variable
 * from the environment. Node has no datagram sockets of the Unix domain, so the program `systemd-notify` sends the message.
 *
 * @param failed - is told why a message could not be sent.
 */
export function notifier(environment: NodeJS.ProcessEnv, failed: (reason: string) => void): Notify {
  const { NOTIFY_SOCKET, PATH } = environment;
  delete environment.NOTIFY_SOCKET;
  if (NOTIFY_SOCKET === undefined) return () => undefined;
  return (state) => {
    execFile('systemd-notify', [state], { env: { NOTIFY_SOCKET, PATH } }, (error) => {
      if (error !== null) failed(error.message);
    });
  };
}
