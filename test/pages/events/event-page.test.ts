import { IMAGES } from '../../support/images';
import { send } from '../../support/http';
import { expectNothingHeld } from '../../support/nothing-held';
import { startService, type TestService } from '../../support/service';
import { htmlProblems } from '../../support/valid-html';

const PNG = IMAGES['image/png'] ?? Buffer.alloc(0);

describe('the page of an event', () => {
  let service: TestService;
  beforeEach(async () => {
    service = await startService();
  });
  afterEach(() => expectNothingHeld(service));

  const get = (query: string) => send(service.url + query);
  const record = (body: string | Buffer, type: string) =>
    send(`${service.url}/RecordEvent`, { method: 'POST', headers: { 'Content-Type': type }, body });
  /** Records a form with a text and files. */
  const recordForm = (...files: readonly (readonly [name: string, content: string | Buffer])[]) => {
    const parts = files.map(([name, content]) =>
      Buffer.concat([
        Buffer.from(`--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n`),
        Buffer.from('Content-Type: image/svg+xml\r\n\r\n'),
        Buffer.from(content),
        Buffer.from('\r\n'),
      ]),
    );
    const text = Buffer.from('--b\r\nContent-Disposition: form-data; name="note"\r\n\r\n<b>hello\r\n');
    return record(Buffer.concat([text, ...parts, Buffer.from('--b--\r\n')]), 'multipart/form-data; boundary=b');
  };
  const imagesIn = (html: string) => [...html.matchAll(/<img src="data:image\/(\w+);base64,/g)].map(([, type]) => type);

  it('has a download for each file of a form, and shows those that are images by their bytes', async () => {
    await recordForm(['a.png', PNG], ['b.png', '<svg onload="alert(1)"/>'], ['\u202E<>x.exe', 'MZ']);
    const { body } = await get('?event=1');
    expect(body).toContain('&lt;b&gt;hello');
    expect(imagesIn(body)).toEqual(['png']);
    expect(body).not.toContain('<svg onload');
    expect([...body.matchAll(/<a class="button" href="(\?event=1&amp;download=file\d)" download>/g)]).toHaveLength(3);
    expect(await htmlProblems(body)).toEqual([]);
    const file = await get('?event=1&download=file0');
    expect(file.body).toBe(PNG.toString());
    expect(file.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename="a.png"',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    });
    const named = await get('?event=1&download=file2');
    expect(named.headers['content-disposition']).toBe("attachment; filename*=UTF-8''_%3C%3Ex.exe");
    expect((await get('?event=1&download=file3')).status).toBe(400);
  });

  it('shows images of a form up to the size of one image', async () => {
    const large = Buffer.concat([PNG, Buffer.alloc(600 * 1024)]);
    await recordForm(['a.png', large], ['b.png', large], ['c.png', PNG]);
    expect(imagesIn((await get('?event=1')).body)).toEqual(['png', 'png']);
  });

  it('shows JSON in a field of a form as JSON, and what only looks like it as it is', async () => {
    const payload = encodeURIComponent('{"action":"opened","issue":{"number":17,"title":"<b>"}}');
    await record(`payload=${payload}&other=%7Bx%7D`, 'application/x-www-form-urlencoded');
    const { body } = await get('?event=1');
    const [, json] = /data-kind="JSON">([^]*?)<\/div>/.exec(body) ?? [];
    expect(json).toContain(
      '\n  &quot;issue&quot;: {\n    &quot;number&quot;: 17,\n    &quot;title&quot;: &quot;&lt;b&gt;',
    );
    expect(body).toContain('<bdi>{x}</bdi>');
  });

  it('folds the attributes away that stand at its top', async () => {
    await record('{}', 'application/json');
    const { body } = await get('?event=1');
    const [, section = ''] = /aria-labelledby="attributes">([^]*?)<\/section>/.exec(body) ?? [];
    const names = (html = '') => [...html.matchAll(/<dt><bdi>(\w+)/g)].map(([, name]) => name);
    const [shown, folded] = section.split('<details>');
    expect(names(shown)).toEqual(['source', 'datacontenttype']);
    expect(names(folded)).toEqual(['specversion', 'id', 'type', 'time', 'binding', 'sequence']);
  });

  it('leads to the comparison with the last event of its type', async () => {
    for (const type of ['a', 'b', 'a'])
      await record(
        JSON.stringify({ specversion: '1.0', id: String(Math.random()), source: '/s', type }),
        'application/cloudevents+json',
      );
    const offered = async (query: string) =>
      /href="([^"]*)">Compare with the last of its type/.exec((await get(query)).body)?.[1];
    expect(await offered('?event=3&text=%22')).toBe('?event=3&amp;with=1&amp;text=%22');
    expect(await offered('?event=2')).toBeUndefined();
    expect((await get('?event=2&text=%22')).body).toContain('<input type="hidden" name="text" value="&quot;">');
  });
});

it('without a key a page says how to type it in a browser, and nothing else', async () => {
  const service = await startService({ READ_KEYS: 'read-key-0123456789' });
  const { status, body } = await send(`${service.url}?events`);
  const text = body.replace(/[^]*<main id="main">|<\/main>[^]*|<[^>]*>/g, '').trim();
  expect(status).toBe(401);
  expect(text.split(/\n\s*/)).toEqual([
    'A key is needed',
    'Reload this page, and when the browser asks, type any name, and one of the READ_KEYS as the password.',
  ]);
  await service.stop();
});

it('a filter that cannot be used stays open, with its value', async () => {
  const service = await startService();
  const { body } = await send(`${service.url}?events&from=yesterday&type=t`);
  expect(body).toMatch(/<details open>\s*<summary class="hint">Filter by/);
  expect(body).toContain('<input type="text" name="from" step="1" value="yesterday">');
  expect(body).toContain('name="type" maxlength="200" value="t"');
  await service.stop();
});

it('calls of one caller that are refused for one reason are one row', async () => {
  const service = await startService();
  for (let i = 0; i < 3; i++) await send(`${service.url}/Nope`);
  await send(`${service.url}/Other`);
  const { body } = await send(`${service.url}?events=refusals`);
  expect([...body.matchAll(/<tr data-sequence/g)]).toHaveLength(2);
  expect([...body.matchAll(/<span class="chip">(\d+) times<\/span>/g)].map(([, count]) => count)).toEqual(['3']);
  await service.stop();
});
