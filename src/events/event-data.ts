import { JsonText } from './cloudevents/json-text';
import type { StoredEvent } from './stored-event';

/** The payload of an event, as the log keeps it: it may be large, and is decoded only by the methods. */
export class EventData {
  /** `json`: a JSON value other than a string; `text`: a string; `bytes`: what is neither. */
  readonly kind: 'json' | 'text' | 'bytes';
  /** The JSON text, the string as JSON writes it without its quotes, or the base64. */
  readonly encoded: string;

  /** @param member - as in `StoredEvent.data`. */
  constructor(member: string) {
    const [start = '', name] = /^\s*"([^"]*)"\s*:\s*/.exec(member) ?? [];
    const value = member.slice(start.length).trimEnd();
    const isString = value.startsWith('"');
    this.encoded = isString ? value.slice(1, -1) : value;
    if (!isString) this.kind = 'json';
    else this.kind = name === 'data_base64' ? 'bytes' : 'text';
  }

  static of({ data }: Pick<StoredEvent, 'data'>): EventData | undefined {
    return data === undefined ? undefined : new EventData(data);
  }

  /** In bytes. */
  get size(): number {
    return Buffer.byteLength(...this.#content());
  }

  /** JSON and text in UTF-8. */
  bytes(): Buffer {
    return Buffer.from(...this.#content());
  }

  #content(): [text: string, encoding: 'base64' | 'utf8'] {
    const { kind, encoded } = this;
    if (kind === 'bytes') return [encoded, 'base64'];
    return [kind === 'text' && encoded.includes('\\') ? (JSON.parse(`"${encoded}"`) as string) : encoded, 'utf8'];
  }

  /** The first bytes of a payload of the kind `bytes`. */
  bytesStart(maxBytes: number): Buffer {
    return Buffer.from(this.encoded.slice(0, Math.ceil(maxBytes / 3) * 4), 'base64').subarray(0, maxBytes);
  }

  /** The first characters of JSON or of a text; a surrogate pair that the cut divides is dropped. */
  textStart(maxLength: number): string {
    const whole = (text: string) => (this.encoded.length > maxLength ? text.replace(/[\uD800-\uDBFF]$/, '') : text);
    if (this.kind === 'json') return whole(this.encoded.slice(0, maxLength));
    // The cut may divide an escape, which leaves invalid JSON.
    for (let length = maxLength; ; length--) {
      try {
        return whole(JSON.parse(`"${this.encoded.slice(0, length)}"`) as string);
      } catch (error) {
        if (length < maxLength - '\\uXXXX'.length) throw error;
      }
    }
  }

  /** The fields in their order, if the payload is what the service makes of a form, with files or without. */
  form(): FormEntries | undefined {
    const members = this.kind === 'json' ? new JsonText(this.encoded).members() : undefined;
    if (members === undefined) return undefined;
    const fields = [...members].map(([name, { value }]) => [name, [JSON.parse(value) as FormValue].flat()] as const);
    return fields.every(([, values]) => values.every(isFormValue)) ? fields : undefined;
  }
}

/** A text; or a file, or a text that could not be decoded. */
type FormValue = string | { readonly filename?: string; readonly contentType?: string; readonly base64: string };

/** The fields of a form, each with all its values. */
export type FormEntries = readonly (readonly [name: string, values: readonly FormValue[]])[];

function isFormValue(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'string';
  const { base64, filename = '', contentType = '' } = value as Readonly<Record<string, unknown>>;
  return [base64, filename, contentType].every((text) => typeof text === 'string');
}
