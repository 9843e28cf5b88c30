/**
 * Splits UTF-8 text into its lines, which end with a line feed and with nothing else: other libraries also split at
 * U+2028 and U+2029, which JSON leaves as they are.
 *
 * @throws {TypeError} the bytes are not valid UTF-8.
 */
export async function* linesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
