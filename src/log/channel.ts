/**
 * Leads to another process. Messages arrive whole, once and in order, as copies that the structured clone algorithm makes. What
 * is sent after the other side has gone is lost.
 */
export interface Channel {
  /** Calls `sent` once the message is on its way: what a process that hangs does not take is held here. */
  send(message: unknown, sent?: () => void): void;
  onMessage(listener: (message: unknown) => void): void;
  /** Calls a listener once, when the other side has gone. */
  onClose(listener: () => void): void;
}

/** Writes to one log for several processes. */
export interface SharedWriter {
  /** Resolves once the log is open. @throws {EventLogError} as `openEventLog`. */
  start(): Promise<void>;
  /** Writes what the process at the other end records, until that has gone. */
  serve(channel: Channel): void;
  /** Resolves once all processes have gone and the log is closed. */
  close(): Promise<void>;
}
