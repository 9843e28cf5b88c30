import type { Writable } from 'node:stream';

/** A message between a worker and the process that writes for all: a question, its answer, or news. */
export interface Frame {
  /** Numbers a question, and its answer; 0: nobody asked. */
  readonly call: number;
  /** What it is: one byte. */
  readonly kind: number;
  readonly content: Buffer;
}

/** What precedes the content: its length, the call, and the kind. */
const HEAD_BYTES = 9;
const CALL_OFFSET = 4;
const KIND_OFFSET = 8;

/** Writes a frame. In one piece: most are small, and a second write costs more than to copy them. */
export function writeFrame(pipe: Writable, call: number, kind: number, ...content: readonly Uint8Array[]): void {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  const bytes = content.reduce((sum, { length }) => sum + length, 0);
  head.writeUInt32LE(bytes, 0);
  head.writeUInt32LE(call, CALL_OFFSET);
  head.writeUInt8(kind, KIND_OFFSET);
  pipe.write(Buffer.concat([head, ...content], HEAD_BYTES + bytes));
}

/** Finds the frames in what comes through a pipe, in pieces of any size. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #bytes = 0;
  #needed = HEAD_BYTES;

  /** Takes the next piece; returns the frames that are whole with it. Their contents may share memory with the piece. */
  add(piece: Buffer): Frame[] {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    const frames: Frame[] = [];
    if (this.#bytes < this.#needed) return frames;
    // Put together only when a frame is whole: pieces of a large one are copied once.
    let rest = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces);
    for (;;) {
      const size = sizeOf(rest);
      if (size === undefined || rest.length < size) {
        this.#needed = size ?? HEAD_BYTES;
        break;
      }
      frames.push({
        call: rest.readUInt32LE(CALL_OFFSET),
        kind: rest.readUInt8(KIND_OFFSET),
        content: rest.subarray(HEAD_BYTES, size),
      });
      rest = rest.subarray(size);
    }
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
    return frames;
  }
}

/** The bytes of the frame that begins here; undefined: not enough has come to know. */
function sizeOf(bytes: Buffer): number | undefined {
  return bytes.length < HEAD_BYTES ? undefined : HEAD_BYTES + bytes.readUInt32LE(0);
}
