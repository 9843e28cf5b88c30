const LINE_FEED = 0x0a;

/** Most bytes of a line. The longest event that the service takes (256 MiB, in base64) has room in it. */
const MAX_LINE_BYTES = 384 * 1024 * 1024;

/** Thrown for a line that has more bytes than are read of one. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';
}

/**
 * Splits bytes into lines, which end with a line feed only: `node:readline` also splits at U+2028 and U+2029, which JSON
 * leaves as they are. Each byte is looked at once, however long a line is.
 *
 * @throws {LineTooLongError} a line is longer than `maxBytes`.
 */
export async function* linesOf(bytes: AsyncIterable<Buffer>, maxBytes = MAX_LINE_BYTES): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  const hold = (part: Buffer): void => {
    pendingBytes += part.length;
    if (pendingBytes > maxBytes) throw new LineTooLongError(`It is longer than ${String(maxBytes)} bytes.`);
    pending.push(part);
  };
  for await (const chunk of bytes) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      hold(chunk.subarray(start, end));
      yield pending.length === 1 ? chunk.subarray(start, end) : Buffer.concat(pending);
      pending = [];
      pendingBytes = 0;
      start = end + 1;
    }
    if (start < chunk.length) hold(chunk.subarray(start));
  }
  if (pendingBytes > 0) yield Buffer.concat(pending);
}
