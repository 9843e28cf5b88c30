import { longMarkup, markup, shownText } from '../../../src/pages/events/markup';

const MAX = 100_000;
const codePoint = (code: string): string => `<span class="code-point">U+${code}</span>`;

describe('a text on a page', () => {
  it('has nothing that HTML would act on', () => {
    expect(markup(`<script>"&'</textarea>`, MAX).html).toBe('&lt;script&gt;&quot;&amp;&#39;&lt;/textarea&gt;');
  });

  it('shows what cannot be seen by its code point', () => {
    expect(markup('a\u202Eb\u0000\u001B[2J\u200B\u{E0041}', MAX).html).toBe(
      `a${codePoint('202E')}b${codePoint('0000')}${codePoint('001B')}[2J${codePoint('200B')}${codePoint('E0041')}`,
    );
    expect(markup('\uD800x', MAX).html).toBe(`${codePoint('D800')}x`);
  });

  it('keeps tabs, line breaks, letters and emoji, and what joins them', () => {
    expect(markup('a\tb\r\nc\nשלום ❤️ 😀 👩\u200D💻', MAX).html).toBe('a\tb\nc\nשלום ❤️ 😀 👩\u200D💻');
  });

  it('that is long keeps a character and a line break whole where it is divided', async () => {
    const before = 'x'.repeat(32 * 1024 - 1);
    for (const [text, shown] of [
      ['😀y', '😀y'],
      ['\r\ny', '\ny'],
    ] as const)
      expect((await longMarkup(before + text, MAX)).html).toBe(before + shown);
  });

  it.each([0, 1, 5, 6, 7, 100, 4000])('never takes more than %i bytes', (maxBytes) => {
    for (const text of ['"'.repeat(5000), '\u202E'.repeat(5000), 'é😀<x'.repeat(2000)]) {
      const { html, isCut } = markup(text, maxBytes);
      expect(Buffer.byteLength(html)).toBeLessThanOrEqual(maxBytes);
      expect(isCut).toBe(true);
      expect(html.replace(/&[a-z\d#]+;|<span class="code-point">U\+202E<\/span>/g, '')).not.toMatch(/[&"]/);
    }
  });

  it('is whole where it just fits', () => {
    expect(markup('<'.repeat(2000), 8000)).toEqual({ html: '&lt;'.repeat(2000), isCut: false });
    expect(markup('<'.repeat(2000), 7999).html).toBe('&lt;'.repeat(1999));
  });

  it('in a line is isolated, and says that it was cut', () => {
    expect(shownText('שלום')).toBe('<bdi>שלום</bdi>');
    expect(shownText('abcdef', 3)).toBe('<bdi>abc…</bdi>');
  });
});
