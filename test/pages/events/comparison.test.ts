import { send } from '../../support/http';
import { expectNothingHeld } from '../../support/nothing-held';
import { startService, type TestService } from '../../support/service';
import { htmlProblems } from '../../support/valid-html';

const MARKUP = '</div></details><script>alert(1)</script>\u202E';

describe('the comparison of two events', () => {
  let service: TestService;
  beforeEach(async () => {
    service = await startService();
  });
  afterEach(() => expectNothingHeld(service));

  const get = (query: string) => send(service.url + query);
  const record = (body: string | Buffer, type = 'application/json', headers: Record<string, string> = {}) =>
    send(`${service.url}/RecordEvent`, { method: 'POST', headers: { 'Content-Type': type, ...headers }, body });
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
  const ofData = async () => part((await get('?event=1&with=2')).body, 'data');

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
    await record('{"a":1}', 'application/json', { 'X-Try': 'first' });
    await record('{"a": 1 }', 'application/json', { 'X-Try': 'second' });
    const { body } = await get('?event=1&with=2');
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
    await record(lines.join('\r\n'), 'text/plain');
    await record(lines.join('\r\n').replace('line 15', 'changed'), 'text/plain');
    const { html, hint } = await ofData();
    expect(hint).toBe('−1 +1');
    expect(html.match(/[^>]* equal lines/g)).toEqual(['10 equal lines', '9 equal lines']);
  });

  it('tells line ends apart, and values that only look the same', async () => {
    await record('a\r\nb', 'text/plain');
    await record('a\nb', 'text/plain');
    expect(await ofData()).toMatchObject({ hint: '−1 +1', lines: ['- a\u240d', '+ a', '  b'] });
    await record('5');
    await record('5', 'text/plain');
    await record('"5"');
    const of = async (one: number, other: number) =>
      part((await get(`?event=${String(one)}&with=${String(other)}`)).body, 'data').lines;
    expect(await of(3, 4)).toEqual(['- JSON', '+ Text', '  5']);
    expect(await of(3, 5)).toEqual(['- 5', '+ "5"']);
    expect(await of(4, 5)).toEqual(['- Text', '- 5', '+ JSON', '+ "5"']);
  });

  it('finds the other event by its id', async () => {
    await record('a', 'text/plain');
    await record('b', 'text/plain');
    const [{ id = '' } = {}] = await service.log.scan({ after: 1, limit: 1 });
    expect((await get(`?event=1&with=${id}`)).status).toBe(200);
    expect((await get('?event=1&with=nothing')).status).toBe(404);
  });

  it('compares what has no data, bytes, XML and text with anything', async () => {
    await send(`${service.url}/RecordEvent`, { method: 'POST' });
    await record(Buffer.from([0, 1, 255]), 'application/octet-stream');
    await record('<a><b>1</b></a>', 'text/xml');
    await record('<a><b>2</b></a>', 'text/xml');
    const of = async (one: number, other: number) =>
      part((await get(`?event=${String(one)}&with=${String(other)}`)).body, 'data').lines;
    expect(await of(1, 1)).toBeUndefined();
    expect(await of(1, 2)).toEqual([expect.stringMatching(/^\+ 00000000 {2}00 01 ff .*\|\.\.\.\|$/)]);
    expect(await of(3, 4)).toEqual(
      ['  <a>', '-   <b>1</b>', '+   <b>2</b>', '  </a>'].map((line) =>
        line.replace(/[<>]/g, (mark) => (mark === '<' ? '&lt;' : '&gt;')),
      ),
    );
    expect(await of(3, 1)).toHaveLength(3);
  });

  it('shows what a sender wrote as text', async () => {
    await record(JSON.stringify({ [MARKUP]: [MARKUP], a: 1 }), 'application/json', { 'X-Note': MARKUP.slice(0, -1) });
    await record(JSON.stringify({ [MARKUP]: [MARKUP], a: 2 }), 'application/json', {
      'X-Note': `${MARKUP.slice(0, -1)}!`,
    });
    const { body } = await get('?event=1&with=2');
    expect(body).not.toMatch(/<script>alert|\u202E/);
    expect(body).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(await htmlProblems(body)).toEqual([]);
  });

  it('takes texts that differ in too many lines as different in all of them', async () => {
    const text = (of: string) =>
      ['same', ...Array.from({ length: 2000 }, (_, i) => (i % 2 === 0 ? 'same' : `${of}${String(i)}`)), 'end'].join(
        '\n',
      );
    await record(text('a'), 'text/plain');
    await record(text('b'), 'text/plain');
    const { hint, lines } = await ofData();
    expect(hint).toBe('−2,002 +2,002');
    expect([lines?.[0], lines?.at(-1)]).toEqual(['- same', '+ end']);
  });

  it('says where only the beginning is compared', async () => {
    await record('x\n'.repeat(20_001), 'text/plain');
    await record('x\n'.repeat(20_000), 'text/plain');
    const { html, hint } = await ofData();
    expect(hint).toBe('No difference in the beginning');
    expect(html).toContain('Only the beginning was compared.');
  });

  it.each(['0', '9', 'x', '-1', '99999999999999999999'])(
    'is not there with an event that is not: %j',
    async (other) => {
      await record('{}');
      expect((await get(`?event=1&with=${other}`)).status).toBe(404);
      expect((await get(`?event=${other}&with=1`)).status).toBe(404);
    },
  );

  it('leads back to an event, with the search from which it was opened', async () => {
    for (let i = 0; i < 2; i++) await record('{}');
    expect((await get('?event=2&with=1&text=%22')).body).toContain(
      '<a href="?event=2&amp;text=%22" class="button" id="back">',
    );
    // The form sends an empty field.
    expect((await get('?event=1&with=')).body).toContain('<h1>Event 1</h1>');
  });
});
