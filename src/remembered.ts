/** Most texts that are remembered, and most characters of each. */
const MAX_TEXTS = 256;
const MAX_LENGTH = 200;

/**
 * Makes a function that remembers what `read` gave for the first 256 short texts: senders repeat a few all the time, and
 * others are not worth keeping.
 */
export function remembered<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined || known.has(text)) return before as T;
    const value = read(text);
    if (known.size < MAX_TEXTS && text.length <= MAX_LENGTH) known.set(text, value);
    return value;
  };
}
