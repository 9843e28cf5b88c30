/** The payload of an event, as the log keeps it. */
export interface EventData {
  /** `json`: a JSON value other than a string; `text`: a string; `bytes`: what is neither. */
  readonly kind: 'json' | 'text' | 'bytes';
  /** The JSON text, the string as JSON writes it without its quotes, or the base64. */
  readonly encoded: string;
}

/** Reads what `StoredEvent.data` holds, and decodes nothing: it may be large. */
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

/** A text up to this length is decoded to find its size. */
const MAX_DECODED = 65_536;

/** The size of the payload in bytes; of a long text, as JSON writes it. */
export function dataSize(data: EventData): number {
  const { kind, encoded } = data;
  if (kind === 'text' && encoded.length <= MAX_DECODED) return dataBytes(data).length;
  return kind === 'bytes' ? Buffer.byteLength(encoded, 'base64') : Buffer.byteLength(encoded);
}

/** The first characters of JSON or of a text. */
export function textStart({ kind, encoded }: EventData, maxLength: number): string {
  if (kind === 'json') return encoded.slice(0, maxLength);
  if (encoded.length <= maxLength) return JSON.parse(`"${encoded}"`) as string;
  // An escape has at most six characters; a cut in the middle of one leaves what is no JSON.
  for (let length = maxLength; ; length--) {
    try {
      return JSON.parse(`"${encoded.slice(0, length)}"`) as string;
    } catch (error) {
      if (length < maxLength - MAX_ESCAPE) throw error;
    }
  }
}

const MAX_ESCAPE = 6;

/** The first bytes of a payload that is bytes. */
export function bytesStart({ encoded }: EventData, maxBytes: number): Buffer {
  return Buffer.from(encoded.slice(0, Math.ceil(maxBytes / 3) * 4), 'base64').subarray(0, maxBytes);
}
