import { JSON_TYPE, TEXT, useEventsPages } from '../../support/events-pages';
import { newEvent } from '../../support/events';
import { shownText } from '../../support/page';

const MARKUP = '</div></details><script>alert(1)</script>\u202E';

describe('the comparison of two events', () => {
  const { service, get, page, record } = useEventsPages();
  /** A part of the page as a person reads it: its hint, and its lines. */
  const part = (html: string, id: string) => {
    const [section = ''] = new RegExp(`<section class="box" aria-labelledby="${id}">[^]*?</section>`).exec(html) ?? [];
    const text = (pattern: RegExp) => pattern.exec(section)?.slice(1).map(shownText)[0]?.trimEnd();
    const lines = text(/<div class="lined[^>]*>([^]*)<\/div>/)?.split('\n');
    return { hint: text(/<p class="hint">(.*?)<\/p>/), lines, html: section };
  };
  const ofData = async (one = 1, other = 2) => part(await page(`?event=${String(one)}&with=${String(other)}`), 'data');
  /** Records two events, and compares their data. */
  const compared = async (one: string | Buffer, other: string | Buffer, headers: Record<string, string> = TEXT) => {
    await record(one, headers);
    await record(other, headers);
    return ofData();
  };

  it('shows each line of one alone after a minus or a plus', async () => {
    const [one, other] = ['{"order":17,"items":["a"],"paid":false}', '{"order":17, "items":["b","c"], "paid":false}'];
    const { hint, lines } = await compared(one, other, JSON_TYPE);
    expect(hint).toBe('−1 +2');
    expect(lines).toEqual(
      ['  {', '    "order": 17,', '    "items": [', '-     "a"', '+     "b",', '+     "c"', '    ],'].concat([
        '    "paid": false',
        '  }',
      ]),
    );
  });

  it('says of equal data that it is, and shows how attributes and arrivals differ', async () => {
    await record('{"a":1}', { ...JSON_TYPE, 'X-Try': 'first' });
    await record('{"a": 1 }', { ...JSON_TYPE, 'X-Try': 'second' });
    const body = await page('?event=1&with=2');
    expect(part(body, 'data')).toMatchObject({ hint: 'No difference', lines: undefined });
    expect(part(body, 'attributes').lines).toEqual(
      expect.arrayContaining([`- sequence: ${'1'.padStart(20, '0')}`, `+ sequence: ${'2'.padStart(20, '0')}`]),
    );
    expect(part(body, 'arrival').lines).toEqual(
      expect.arrayContaining([
        '  Request: POST /webhooks/Services/WebHooks.asmx/RecordEvent',
        '  Sender: 127.0.0.1',
        '- x-try: first',
        '+ x-try: second',
      ]),
    );
  });

  it('shows five equal lines around a difference, and counts those further away', async () => {
    const text = Array.from({ length: 40 }, (_, i) => `line ${String(i)}`).join('\r\n');
    const { html, hint, lines = [] } = await compared(text, text.replace('line 15', 'a').replace('line 30', 'b'));
    expect(hint).toBe('−2 +2');
    expect(html.match(/[^>]* equal lines?/g)).toEqual(['10 equal lines', '4 equal lines', '4 equal lines']);
    expect(lines.slice(0, 8).map((line) => line.replace(/ *[\r\u240d]?$/, ''))).toEqual([
      '10 equal lines',
      ...[10, 11, 12, 13, 14].map((i) => `  line ${String(i)}`),
      '- line 15',
      '+ a',
    ]);
  });

  it('tells line ends apart, and values that only look the same', async () => {
    expect(await compared('a\r\nb', 'a\nb')).toMatchObject({ hint: '−1 +1', lines: ['- a\u240d', '+ a', '  b'] });
    await record('5', JSON_TYPE);
    await record('5', TEXT);
    await record('"5"', JSON_TYPE);
    expect((await ofData(3, 4)).lines).toEqual(['- JSON', '+ Text', '  5']);
    expect((await ofData(3, 5)).lines).toEqual(['- 5', '+ "5"']);
    expect((await ofData(4, 5)).lines).toEqual(['- Text', '- 5', '+ JSON', '+ "5"']);
  });

  it('compares what has no data, bytes, XML and text with anything', async () => {
    await record();
    await record(Buffer.from([0, 1, 255]), { 'Content-Type': 'application/octet-stream' });
    for (const text of ['1', '2']) await record(`<a><b>${text}</b></a>`, { 'Content-Type': 'text/xml' });
    expect((await ofData(1, 1)).lines).toBeUndefined();
    expect((await ofData(1, 2)).lines).toEqual([expect.stringMatching(/^\+ 00000000 {2}00 01 ff .*\|\.\.\.\|$/)]);
    expect((await ofData(3, 4)).lines).toEqual(['  <a>', '-   <b>1</b>', '+   <b>2</b>', '  </a>']);
  });

  it('shows what a sender wrote as text', async () => {
    for (const i of ['1', '2'])
      await record(`{"${MARKUP}":["${MARKUP}"],"a":${i}}`, { ...JSON_TYPE, 'X-Note': `<script>alert(1)</script>${i}` });
    const body = await page('?event=1&with=2');
    expect(body).not.toMatch(/<script>alert|\u202E/);
    expect(body).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  });

  it('takes texts that differ in too many lines as different in all of them', async () => {
    const text = (of: string) => ['same', ...Array.from({ length: 1000 }, (_, i) => `same\n${of}${String(i)}`), 'end'];
    const { hint, lines } = await compared(text('a').join('\n'), text('b').join('\n'));
    expect(hint).toBe('−2,002 +2,002');
    expect([lines?.[0], lines?.at(-1)]).toEqual(['- same', '+ end']);
  });

  it('says where only the beginning is compared', async () => {
    const { html, hint } = await compared('x\n'.repeat(20_001), 'x\n'.repeat(20_000));
    expect(hint).toBe('No difference in the beginning');
    expect(html).toContain('Only the beginning was compared.');
    const lines = (of: string) => Array.from({ length: 100 }, (_, i) => `${String(i)}\n${of.repeat(1000)}`).join('\n');
    for (const of of ['\u202a', '\u202b']) await record(lines(of), TEXT);
    expect((await ofData(3, 4)).html.length).toBeLessThan(1_100_000);
    await service().log.append(newEvent({ arrival: JSON.stringify({ headers: { a: 'x'.repeat(20_000) } }) }));
    expect(part(await page('?event=5&with=5'), 'arrival').hint).toBe('No difference in the beginning');
  });

  it('finds the other event by its id, and is not there with one that is not', async () => {
    await compared('{}', '{}');
    const [{ id = '' } = {}] = await service().log.scan({ after: 1, limit: 1 });
    expect((await get(`?event=1&with=${id}`)).status).toBe(200);
    for (const query of ['?event=1&with=9', '?event=1&with=x', '?event=9&with=1'])
      expect((await get(query)).status).toBe(404);
  });

  it('leads back to an event, with the search from which it was opened', async () => {
    await compared('{}', '{}');
    const back = '<a href="?event=2&amp;text=%22" class="button" id="back">';
    expect(await page('?event=2&with=1&text=%22')).toContain(back);
    // The form sends an empty field.
    expect(await page('?event=1&with=')).toContain('<h1>Event 1</h1>');
  });
});
