import type { EventData } from '../../events/event-data';

/** An image in a payload. */
export interface ImageView {
  readonly format: 'PNG' | 'JPEG' | 'GIF' | 'WebP';
  /** In pixels. */
  readonly width: number;
  readonly height: number;
  /** A `data:` URL in characters that need no escape. Undefined if the image is too large to be shown. */
  readonly url: string | undefined;
}

/** Most bytes of an image that is shown, and most pixels: a small file may stand for more than a browser's memory. */
const MAX_IMAGE_BYTES = 1024 * 1024;
const MAX_PIXELS = 16 * 1024 * 1024;

/**
 * Returns the image that bytes are by their beginning, whatever their sender calls them; undefined for anything else, and where the
 * beginning does not say how large the image is.
 *
 * @param size - the number of bytes.
 */
export function imageView(data: EventData, size: number): ImageView | undefined {
  const bytes = data.bytesStart(MAX_IMAGE_BYTES);
  for (const [format, sizeOf] of FORMATS) {
    const [width, height] = sizeOf(bytes) ?? [0, 0];
    if (width === 0 || height === 0) continue;
    const isShown = size <= MAX_IMAGE_BYTES && width * height <= MAX_PIXELS;
    const url = isShown ? `data:image/${format.toLowerCase()};base64,${bytes.toString('base64')}` : undefined;
    return { format, width, height, url };
  }
  return undefined;
}

/** Width and height in pixels. */
type Size = readonly [width: number, height: number];

/** Reads the size of an image of a format. Returns undefined for other bytes. */
type SizeReader = (bytes: Buffer) => Size | undefined;

const FORMATS: readonly (readonly [ImageView['format'], SizeReader])[] = [
  ['PNG', pngSize],
  ['JPEG', jpegSize],
  ['GIF', gifSize],
  ['WebP', webpSize],
];

/** The signature, and the first chunk up to its size (PNG, third edition, sections 5.2 and 11.2.1). */
function pngSize(bytes: Buffer): Size | undefined {
  if (bytes.length < 24 || bytes.toString('latin1', 0, 16) !== '\x89PNG\r\n\x1a\n\0\0\0\rIHDR') return undefined;
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

/** The signature and the logical screen (GIF89a, sections 17 and 18). */
function gifSize(bytes: Buffer): Size | undefined {
  if (bytes.length < 10 || !/^GIF8[79]a/.test(bytes.toString('latin1', 0, 6))) return undefined;
  return [bytes.readUInt16LE(6), bytes.readUInt16LE(8)];
}

/** The first frame header among the segments (ITU-T T.81, sections B.1.1 and B.2.2). */
function jpegSize(bytes: Buffer): Size | undefined {
  if (!bytes.toString('latin1', 0, 3).startsWith('\xff\xd8\xff')) return undefined;
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff;) {
    const marker = bytes[at + 1] ?? 0;
    if (isFrame(marker)) return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
    if (marker === START_OF_SCAN) return undefined;
    // A marker may be filled up with bytes of all ones before it.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

const START_OF_SCAN = 0xda;

/** Whether a marker begins a frame; the other markers of its range define tables and extensions. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

/** The first chunk of a RIFF file: lossy, lossless or extended (RFC 9649, sections 2.5 to 2.7). */
function webpSize(bytes: Buffer): Size | undefined {
  if (bytes.length < 30 || !/^RIFF....WEBP/s.test(bytes.toString('latin1', 0, 12))) return undefined;
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return [1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff)];
    }
    case 'VP8X':
      return [1 + bytes.readUIntLE(24, 3), 1 + bytes.readUIntLE(27, 3)];
    default:
      return undefined;
  }
}
