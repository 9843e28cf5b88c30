import { EventData } from '../../../src/events/event-data';
import { imageView, type ImageView } from '../../../src/pages/events/image';
import { IMAGES, patched } from '../../support/images';

const PNG = IMAGES['image/png'];
const JPEG = IMAGES['image/jpeg'];
const GIF = IMAGES['image/gif'];

const viewOf = (bytes: Buffer): ImageView | undefined =>
  imageView(new EventData(`"data_base64":"${bytes.toString('base64')}"`), bytes.length);

describe('bytes', () => {
  it.each(Object.entries(IMAGES))('that are an image are shown as one: %s', (type, bytes) => {
    const [mediaType = ''] = type.split(';');
    expect(viewOf(bytes)).toEqual({
      format: { 'image/png': 'PNG', 'image/jpeg': 'JPEG', 'image/gif': 'GIF', 'image/webp': 'WebP' }[mediaType],
      width: 1,
      height: 1,
      url: `data:${mediaType};base64,${bytes.toString('base64')}`,
    });
  });

  it.each([
    ['PNG', patched(PNG, 16, [0, 0, 2, 0x80, 0, 0, 1, 0xe0])],
    ['JPEG', patched(JPEG, 94, [1, 0xe0, 2, 0x80])],
    ['GIF', patched(GIF, 6, [0x80, 2, 0xe0, 1])],
    ['lossy WebP', patched(IMAGES['image/webp'], 26, [0x80, 2, 0xe0, 1])],
    ['lossless WebP', patched(IMAGES['image/webp; lossless'], 21, [0x7f, 0xc2, 0x77, 0])],
    ['extended WebP', patched(IMAGES['image/webp; extended'], 24, [0x7f, 2, 0, 0xdf, 1, 0])],
    ['JPEG behind fill bytes', patched(JPEG, 0, [...Buffer.from('ffd8ffffffc000110801e00280', 'hex')])],
  ])('have the size of their picture: %s', (_what, bytes) => {
    expect(viewOf(bytes)).toMatchObject({ width: 640, height: 480 });
  });

  it.each([
    ['a PNG of 65,535 × 65,535 pixels', patched(PNG, 16, [0, 0, 255, 255, 0, 0, 255, 255])],
    ['a PNG of 4 × 10^9 pixels a line', patched(PNG, 16, [255, 255, 255, 255])],
    ['a JPEG of 65,535 × 65,535 pixels', patched(JPEG, 94, [255, 255, 255, 255])],
    ['a GIF of 65,535 × 65,535 pixels', patched(GIF, 6, [255, 255, 255, 255])],
    ['a WebP of 16,777,216 × 16,777,216 pixels', patched(IMAGES['image/webp; extended'], 24, Array(6).fill(255))],
    ['more than 1 MiB', Buffer.concat([PNG ?? Buffer.alloc(0), Buffer.alloc(1024 * 1024)])],
  ])('are described, and not shown, where they are %s', (_what, bytes) => {
    const view = viewOf(bytes);
    expect([typeof view?.format, view?.url]).toEqual(['string', undefined]);
  });

  it('are shown up to 1 MiB', () => {
    expect(
      viewOf(Buffer.concat([PNG ?? Buffer.alloc(0), Buffer.alloc(1024 * 1024)]).subarray(0, 1024 * 1024))?.url,
    ).toMatch(/^data:image\/png;base64,[A-Za-z\d+/]+=*$/);
  });

  it.each([
    ['nothing', ''],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
    ['a PNG without its header', '\x89PNG\r\n\x1a\n<script>alert(1)</script>'],
    ['a PNG whose first chunk is another', '\x89PNG\r\n\x1a\n\0\0\0\rIDAT\0\0\x04\0\0\0\x04\0'],
    ['a PNG of no pixels', patched(PNG, 16, [0, 0, 0, 0])],
    ['a JPEG without a frame', '\xff\xd8\xff\xda\0\x08\0\0\0\0\0\0\0\0'],
    ['a JPEG whose segments lead nowhere', `\xff\xd8${'\xff\xe0\0\0'.repeat(250_000)}`],
    ['RIFF that is not WebP', 'RIFF\0\0\0\0WAVEfmt \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'],
    ['WebP with an unknown chunk', 'RIFF\0\0\0\0WEBPALPH\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'],
  ])('are no image: %s', (_what, bytes) => {
    expect(viewOf(Buffer.from(bytes as string, 'latin1'))).toBeUndefined();
  });

  it.each(Object.entries(IMAGES))('that are cut off anywhere are harmless: %s', (_type, bytes) => {
    for (let length = 0; length < bytes.length; length++) {
      const view = viewOf(bytes.subarray(0, length));
      if (view !== undefined) expect([view.width, view.height]).toEqual([1, 1]);
    }
    expect(viewOf(bytes.subarray(0, 9))).toBeUndefined();
  });
});
