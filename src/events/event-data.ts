/** The payload of an event, as the log keeps it. */
export interface EventData {
  /** `json`: a JSON value other than a string; `text`: a string; `bytes`: what is neither. */
  readonly kind: 'json' | 'text' | 'bytes';
  /** The JSON text, the string as JSON writes it without its quotes, or the base64. */
  readonly encoded: string;
}

/** Reads what `StoredEvent.data` holds, without decoding it: it may be large. */
export function eventData(data: string): EventData {
  const [start = '', name] = /^\s*"([^"]*)"\s*:\s*/.exec(data) ?? [];
  const value = data.slice(start.length).trimEnd();
  if (!value.startsWith('"')) return { kind: 'json', encoded: value };
  return { kind: name === 'data_base64' ? 'bytes' : 'text', encoded: value.slice(1, -1) };
}

/** The payload as bytes: JSON and text in UTF-8. */
export function dataBytes({ kind, encoded }: EventData): Buffer {
  if (kind === 'bytes') return Buffer.from(encoded, 'base64');
  return Buffer.from(kind === 'json' ? encoded : (JSON.parse(`"${encoded}"`) as string));
}

/** The size of the payload in bytes; of a text, as JSON writes it, which is what the list of events shows. */
export function dataSize({ kind, encoded }: EventData): number {
  return Buffer.byteLength(encoded, kind === 'bytes' ? 'base64' : 'utf8');
}

/** The first characters of JSON or of a text; a surrogate pair that the cut divides is dropped. */
export function textStart(data: EventData, maxLength: number): string {
  const start = decodedStart(data, maxLength);
  return data.encoded.length > maxLength ? start.replace(/[\uD800-\uDBFF]$/, '') : start;
}

function decodedStart({ kind, encoded }: EventData, maxLength: number): string {
  if (kind === 'json') return encoded.slice(0, maxLength);
  if (encoded.length <= maxLength) return JSON.parse(`"${encoded}"`) as string;
  // The cut may divide an escape, which leaves invalid JSON.
  for (let length = maxLength; ; length--) {
    try {
      return JSON.parse(`"${encoded.slice(0, length)}"`) as string;
    } catch (error) {
      if (length < maxLength - MAX_ESCAPE) throw error;
    }
  }
}

/** The length of the longest escape: `\\uXXXX`. */
const MAX_ESCAPE = 6;

/** The first bytes of a payload of the kind `bytes`. */
export function bytesStart({ encoded }: EventData, maxBytes: number): Buffer {
  return Buffer.from(encoded.slice(0, Math.ceil(maxBytes / 3) * 4), 'base64').subarray(0, maxBytes);
}

/** Whether a value is what the service makes of a form: an object of strings or lists of strings. */
export function isForm(value: unknown): value is Readonly<Record<string, string | readonly string[]>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const values = Object.values(value).flat() as unknown[];
  return values.every((text) => typeof text === 'string');
}
