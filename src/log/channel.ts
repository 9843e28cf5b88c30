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
