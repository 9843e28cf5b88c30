/** Most texts whose results are kept, and most characters of each text. */
const MAX_TEXTS = 256;
const MAX_LENGTH = 200;

/**
 * Makes a function that computes its result once for each of the first 256 short texts. Senders repeat a few texts all the
 * time; the others are not worth keeping.
 */
export function memoized<T>(compute: (text: string) => T): (text: string) => T {
  const results = new Map<string, T>();
  return (text) => {
    const kept = results.get(text);
    if (kept !== undefined || results.has(text)) return kept as T;
    const result = compute(text);
    if (results.size < MAX_TEXTS && text.length <= MAX_LENGTH) results.set(text, result);
    return result;
  };
}
