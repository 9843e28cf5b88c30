import type { RecordedEvents } from '../recorder';

/**
 * The version of these messages, of the packed batches in them and of the schema that is written. A worker of another version
 * than its supervisor, which stays when a new build replaces the workers, does not start.
 */
export const PROTOCOL = 3;

/** What a worker asks the process that writes. Questions of one kind are answered in their order. */
export type WriterQuestion =
  /** Record these packed batches, all of them or none. */
  | { readonly append: readonly Uint8Array[] }
  /** Can events be recorded? */
  | 'check'
  /** Tell the newest position after each commit, or no longer. */
  | 'watch'
  | 'unwatch';

/** What it is sent. A failure is the text of an error. */
export type WriterAnswer =
  | { readonly appended: readonly RecordedEvents[] }
  | { readonly appendFailed: string }
  | { readonly checked: string | undefined }
  | { readonly newest: number };
