import { send, type Question } from '../../../support/http';
import { expectNothingHeld } from '../../../support/nothing-held';
import { startService, type TestService } from '../../../support/service';
import { htmlProblems } from '../../../support/valid-html';

const FORM = 'application/x-www-form-urlencoded';
const BIDI = '\u202Egpj.exe\u202C';
const MARKUP = `</textarea></pre><script>alert(1)</script>`;
const HOSTILE = `${MARKUP}${BIDI}"'&`;

let service: TestService;
beforeEach(async () => {
  service = await startService();
});
afterEach(() => expectNothingHeld(service));

const get = (query: string) => send(service.url + query);
const record = (question: Question & { query?: string } = {}) =>
  send(`${service.url}/RecordEvent${question.query ?? ''}`, { method: 'POST', ...question });

describe('the pages of the events treat what a sender wrote as text', () => {
  const large = `${HOSTILE}${'<é\u202E"'.repeat(500_000)}`;
  it.each([
    ['a text', { headers: { 'Content-Type': 'text/plain' }, body: HOSTILE }],
    ['JSON', { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ [HOSTILE]: [HOSTILE] }) }],
    ['a form', { headers: { 'Content-Type': FORM }, body: new URLSearchParams({ [HOSTILE]: HOSTILE }).toString() }],
    ['a CloudEvent', { headers: { 'Content-Type': 'application/cloudevents+json' }, body: cloudEvent(HOSTILE) }],
    ['4 MB of text', { headers: { 'Content-Type': 'text/plain' }, body: large.slice(0, 1_500_000) }],
    [
      'an address',
      { query: `?${encodeURIComponent(HOSTILE)}`, headers: { 'User-Agent': '<script>alert(1)</script>' } },
    ],
  ])('in %s', async (_what, question) => {
    for (let i = 0; i < 3; i++) expect((await record(question)).status).toBe(200);
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
    const headers = { 'Content-Type': 'application/cloudevents+json', ...hostile };
    for (const body of [
      HOSTILE,
      `<s:Header>${MARKUP}</s:Header>${MARKUP}`,
      Buffer.from([0, 1, 0xff]),
      large.slice(0, 9000),
    ])
      expect((await record({ headers, body })).status).toBe(400);
    await send(`${service.url}/${encodeURIComponent(HOSTILE)}`, { headers });
    for (const query of ['?events=refusals', `?events=refusals&reason=${encodeURIComponent(MARKUP)}`]) {
      const { body } = await get(query);
      expect(body).not.toMatch(/<script>alert|<\/textarea>|[\u202A-\u202E]/);
      expect(await htmlProblems(body)).toEqual([]);
    }
    for (let i = 0; i < 100; i++) await record({ headers, body: large.slice(0, 9000) });
    expect(Buffer.byteLength((await get('?events=refusals')).body)).toBeLessThan(1_500_000);
  });

  it('in fifty events', async () => {
    for (let i = 0; i < 50; i++)
      await record({ headers: { 'Content-Type': 'text/plain' }, body: '\u202E'.repeat(200) });
    expect(Buffer.byteLength((await get('?events')).body)).toBeLessThan(200_000);
  });
});

function cloudEvent(type: string): string {
  const id = `${type.slice(0, 50)}-1`;
  return JSON.stringify({ specversion: '1.0', id, source: '/s', type, subject: type, data: { a: 1 } });
}
