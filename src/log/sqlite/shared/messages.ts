import type { RecordedEvents } from '../insertion';

/**
 * The version of what goes through the pipe. A worker of another version than its supervisor, whose code may be older, writes
 * to the database itself.
 */
export const PROTOCOL = 1;

/** The kinds of frames that a worker sends. */
export const QUESTION = {
  /** To record the batches in the content together. */
  append: 1,
  /** Whether events can be recorded. */
  check: 2,
  /** To be told the newest position after each commit, or no longer. */
  watch: 3,
  unwatch: 4,
} as const;

/** The kinds of frames that a worker gets. */
export const ANSWER = {
  /** The question succeeded; the content is what came of it. */
  done: 1,
  /** It failed; the content says why. */
  failed: 2,
  /** The newest position, as a text. */
  newest: 3,
} as const;

/** What precedes each batch: how many bytes it has. */
const LENGTH_BYTES = 4;

/** The parts of the content of {@link QUESTION.append}, in their order. */
export function partsOf(batches: readonly Buffer[]): Buffer[] {
  return batches.flatMap((batch) => {
    const length = Buffer.allocUnsafe(LENGTH_BYTES);
    length.writeUInt32LE(batch.length);
    return [length, batch];
  });
}

/** Copies the batches out of such content. */
export function batchesIn(content: Buffer): Buffer<ArrayBuffer>[] {
  const batches: Buffer<ArrayBuffer>[] = [];
  for (let start = 0; start < content.length;) {
    const from = start + LENGTH_BYTES;
    start = from + content.readUInt32LE(start);
    // With a buffer of its own, which can be transferred to another thread.
    const batch = Buffer.allocUnsafeSlow(start - from);
    content.copy(batch, 0, from, start);
    batches.push(batch);
  }
  return batches;
}

/** Writes what came of recording batches. */
export function packRecorded(recorded: readonly RecordedEvents[]): Buffer {
  return Buffer.from(JSON.stringify(recorded.map(({ newest, firstIds }) => [newest ?? null, ...firstIds])));
}

/** Reads it. */
export function unpackRecorded(content: Buffer): RecordedEvents[] {
  const batches = JSON.parse(content.toString()) as [number | null, ...[number, string][]][];
  return batches.map(([newest, ...firstIds]) => ({ newest: newest ?? undefined, firstIds: new Map(firstIds) }));
}
