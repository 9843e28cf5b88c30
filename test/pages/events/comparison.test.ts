import { JSON_TYPE, TEXT, useEventsPages } from '../../support/events-pages';
import { htmlProblems } from '../../support/valid-html';

const MARKUP = '</div></details><script>alert(1)</script>\u202E';

describe('the comparison of two events', () => {
  const { service, get, page, record: recordAs } = useEventsPages();
  const record = (body: string | Buffer, headers: Record<string, string> = JSON_TYPE) => recordAs(body, headers);
  /** A part of the page as a person reads it: its hint, and its lines. */
  const part = (html: string, id: string) => {
    const [section = ''] = new RegExp(`<section class="box" aria-labelledby="${id}">[^]*?</section>`).exec(html) ?? [];
    const text = (found: RegExpExecArray | null) => found?.[1]?.replace(/<[^>]*>/g, '').replaceAll('&quot;', '"');
    return {
      hint: text(/<p class="hint">(.*?)<\/p>/.exec(section)),
      lines: text(/<div class="lined[^>]*>([^]*)<\/div>/.exec(section))
        ?.trimEnd()
        .split('\n'),
      html: section,
    };
  };
  const ofData = async (one = 1, other = 2) => part(await page(`?event=${String(one)}&with=${String(other)}`), 'data');

  it('shows each line of one alone after a minus or a plus', async () => {
    await record('{"order":17,"items":[{"sku":"a"}],"paid":false}');
    await record('{"order":17, "items":[{"sku":"b"},{"sku":"c"}], "paid":false}');
    const { hint, lines } = await ofData();
    expect(hint).toBe('−1 +4');
    expect(lines).toEqual([
      '  {',
      '    "order": 17,',
      '    "items": [',
      '      {',
      '-       "sku": "a"',
      '+       "sku": "b"',
      '+     },',
      '+     {',
      '+       "sku": "c"',
      '      }',
      '    ],',
      '    "paid": false',
      '  }',
    ]);
  });

  it('says of equal data that it is, and shows how attributes and arrivals differ', async () => {
    await record('{"a":1}', { ...JSON_TYPE, 'X-Try': 'first' });
    await record('{"a": 1 }', { ...JSON_TYPE, 'X-Try': 'second' });
    const body = await page('?event=1&with=2');
    expect(part(body, 'data')).toMatchObject({ hint: 'No difference', lines: undefined });
    expect(part(body, 'attributes').lines).toEqual(
      expect.arrayContaining([
        '- sequence: 00000000000000000001',
        '+ sequence: 00000000000000000002',
        '  binding: httppost',
      ]),
    );
    expect(part(body, 'arrival').lines).toEqual(
      expect.arrayContaining([
        '  Request: POST /webhooks/Services/WebHooks.asmx/RecordEvent',
        '- x-try: first',
        '+ x-try: second',
      ]),
    );
    expect(await htmlProblems(body)).toEqual([]);
  });

  it('counts equal lines further away', async () => {
    const lines = Array.from({ length: 30 }, (_, i) => `line ${String(i)}`);
    await record(lines.join('\r\n'), TEXT);
    await record(lines.join('\r\n').replace('line 15', 'changed'), TEXT);
    const { html, hint } = await ofData();
    expect(hint).toBe('−1 +1');
    expect(html.match(/[^>]* equal lines/g)).toEqual(['10 equal lines', '9 equal lines']);
  });

  it('tells line ends apart, and values that only look the same', async () => {
    await record('a\r\nb', TEXT);
    await record('a\nb', TEXT);
    expect(await ofData()).toMatchObject({ hint: '−1 +1', lines: ['- a\u240d', '+ a', '  b'] });
    await record('5');
    await record('5', TEXT);
    await record('"5"');
    expect((await ofData(3, 4)).lines).toEqual(['- JSON', '+ Text', '  5']);
    expect((await ofData(3, 5)).lines).toEqual(['- 5', '+ "5"']);
    expect((await ofData(4, 5)).lines).toEqual(['- Text', '- 5', '+ JSON', '+ "5"']);
  });

  it('compares what has no data, bytes, XML and text with anything', async () => {
    await recordAs();
    await record(Buffer.from([0, 1, 255]), { 'Content-Type': 'application/octet-stream' });
    await record('<a><b>1</b></a>', { 'Content-Type': 'text/xml' });
    await record('<a><b>2</b></a>', { 'Content-Type': 'text/xml' });
    expect((await ofData(1, 1)).lines).toBeUndefined();
    expect((await ofData(1, 2)).lines).toEqual([expect.stringMatching(/^\+ 00000000 {2}00 01 ff .*\|\.\.\.\|$/)]);
    const lines = (await ofData(3, 4)).lines?.map((line) => line.replaceAll('&lt;', '<').replaceAll('&gt;', '>'));
    expect(lines).toEqual(['  <a>', '-   <b>1</b>', '+   <b>2</b>', '  </a>']);
  });

  it('shows what a sender wrote as text', async () => {
    const note = MARKUP.slice(0, -1);
    await record(JSON.stringify({ [MARKUP]: [MARKUP], a: 1 }), { ...JSON_TYPE, 'X-Note': note });
    await record(JSON.stringify({ [MARKUP]: [MARKUP], a: 2 }), { ...JSON_TYPE, 'X-Note': `${note}!` });
    const body = await page('?event=1&with=2');
    expect(body).not.toMatch(/<script>alert|\u202E/);
    expect(body).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(await htmlProblems(body)).toEqual([]);
  });

  it('takes texts that differ in too many lines as different in all of them', async () => {
    const text = (of: string) =>
      ['same', ...Array.from({ length: 2000 }, (_, i) => (i % 2 === 0 ? 'same' : `${of}${String(i)}`)), 'end'].join(
        '\n',
      );
    await record(text('a'), TEXT);
    await record(text('b'), TEXT);
    const { hint, lines } = await ofData();
    expect(hint).toBe('−2,002 +2,002');
    expect([lines?.[0], lines?.at(-1)]).toEqual(['- same', '+ end']);
  });

  it('says where only the beginning is compared', async () => {
    await record('x\n'.repeat(20_001), TEXT);
    await record('x\n'.repeat(20_000), TEXT);
    const { html, hint } = await ofData();
    expect(hint).toBe('No difference in the beginning');
    expect(html).toContain('Only the beginning was compared.');
  });

  it('finds the other event by its id, and is not there with one that is not', async () => {
    await record('{}');
    await record('{}');
    const [{ id = '' } = {}] = await service().log.scan({ after: 1, limit: 1 });
    expect((await get(`?event=1&with=${id}`)).status).toBe(200);
    for (const other of ['0', '9', 'x', '-1', '99999999999999999999']) {
      expect((await get(`?event=1&with=${other}`)).status).toBe(404);
      expect((await get(`?event=${other}&with=1`)).status).toBe(404);
    }
  });

  it('leads back to an event, with the search from which it was opened', async () => {
    for (let i = 0; i < 2; i++) await record('{}');
    expect(await page('?event=2&with=1&text=%22')).toContain(
      '<a href="?event=2&amp;text=%22" class="button" id="back">',
    );
    // The form sends an empty field.
    expect(await page('?event=1&with=')).toContain('<h1>Event 1</h1>');
  });
});
