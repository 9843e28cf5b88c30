import { CLOUD_EVENT, FORM, JSON_TYPE, TEXT, useEventsPages } from '../../../support/events-pages';
import { send } from '../../../support/http';
import { htmlProblems } from '../../../support/valid-html';

const BIDI = '\u202Egpj.exe\u202C';
const MARKUP = `</textarea></pre><script>alert(1)</script>`;
const HOSTILE = `${MARKUP}${BIDI}"'&`;
const NAMES = { id: `${HOSTILE.slice(0, 50)}-1`, source: '/s', type: HOSTILE, subject: HOSTILE };

const { service, get, record } = useEventsPages();

describe('the pages of the events treat what a sender wrote as text', () => {
  const large = `${HOSTILE}${'<é\u202E"'.repeat(500_000)}`;
  it.each<[what: string, body: string, headers: Record<string, string>, query?: string]>([
    ['a text', HOSTILE, TEXT],
    ['JSON', JSON.stringify({ [HOSTILE]: [HOSTILE] }), JSON_TYPE],
    ['a form', new URLSearchParams({ [HOSTILE]: HOSTILE }).toString(), FORM],
    ['a CloudEvent', JSON.stringify({ specversion: '1.0', ...NAMES, data: { a: 1 } }), CLOUD_EVENT],
    ['4 MB of text', large.slice(0, 1_500_000), TEXT],
    ['an address', '', { 'User-Agent': '<script>alert(1)</script>' }, `?${encodeURIComponent(HOSTILE)}`],
  ])('in %s', async (_what, body, headers, ...[query]) => {
    for (let i = 0; i < 3; i++) expect((await record(body, headers, query)).status).toBe(200);
    for (const query of [
      '?events',
      '?event=1',
      '?event=1&with=2',
      `?events&text=${encodeURIComponent(MARKUP)}`,
      '?events&type=%3Cscript%3E',
    ]) {
      const { body } = await get(query);
      expect(Buffer.byteLength(body)).toBeLessThan(2_300_000);
      expect(body).not.toMatch(/<script>alert|<\/textarea>|[\u202A-\u202E]/);
      // The rest of a long text is like its beginning, and would take the validator half a minute.
      const start = body.replace(
        /(<div [^>]*id="data-text"[^>]*>(?:(?!<\/div>)[^]){50000}(?:(?!<\/div>)[^])*?<\/span>)(?:(?!<\/div>)[^])*/,
        '$1',
      );
      expect(await htmlProblems(start)).toEqual([]);
    }
  });

  it('in refused calls', async () => {
    const hostile = { 'User-Agent': MARKUP, 'Webhook-Id': MARKUP, [`X-${'h'.repeat(2000)}`]: MARKUP };
    const headers = { ...CLOUD_EVENT, ...hostile };
    for (const body of [
      HOSTILE,
      `<s:Header>${MARKUP}</s:Header>${MARKUP}`,
      Buffer.from([0, 1, 0xff]),
      large.slice(0, 9000),
    ])
      expect((await record(body, headers)).status).toBe(400);
    await send(`${service().url}/${encodeURIComponent(HOSTILE)}`, { headers });
    for (const query of ['?events=refusals', `?events=refusals&reason=${encodeURIComponent(MARKUP)}`]) {
      const { body } = await get(query);
      expect(body).not.toMatch(/<script>alert|<\/textarea>|[\u202A-\u202E]/);
      expect(await htmlProblems(body)).toEqual([]);
    }
    for (let i = 0; i < 100; i++) await record(large.slice(0, 9000), headers);
    expect(Buffer.byteLength((await get('?events=refusals')).body)).toBeLessThan(1_500_000);
  });

  it('in fifty events', async () => {
    for (let i = 0; i < 50; i++) await record('\u202E'.repeat(200), TEXT);
    expect(Buffer.byteLength((await get('?events')).body)).toBeLessThan(200_000);
  });
});
