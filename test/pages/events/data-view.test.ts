import { dataView as view } from '../../../src/pages/events/data-view';
import { EventData } from '../../../src/events/payload';
import { indentedXml } from '../../../src/pages/indented-text';
import { shownText as text } from '../../support/page';

const dataView = (member: string, { isForm = false, isJson = false } = {}) =>
  view(new EventData(member), { isForm, isMultipart: false, isJson });

describe('the data of an event', () => {
  it('that is JSON is indented, with all digits, in its order', async () => {
    const data = '"data":{"b":12345678901234567890.10,"a":[1,{"c":"x{,]"}],"e":[],"o":{ },"s":"a\\"b"}';
    const view = await dataView(data);
    expect(view.kind).toBe('JSON');
    expect(text(view.html)).toBe(
      '{\n  "b": 12345678901234567890.10,\n  "a": [\n    1,\n    {\n      "c": "x{,]"\n    }\n  ],\n  "e": [],\n' +
        '  "o": {},\n  "s": "a\\"b"\n}',
    );
  });

  it('that is a string of a type of JSON is shown in its quotes', async () => {
    const [json, plain] = [await dataView('"data":"5"', { isJson: true }), await dataView('"data":"5"')];
    expect([json.kind, text(json.html), plain.kind, text(plain.html)]).toEqual(['JSON', '"5"', 'Text', '5']);
  });

  it('that is XML is indented without a change to its texts', async () => {
    const xml =
      '<?xml version="1.0"?><a x="1>2"> <b>one <i> <u>two</u></i> </b><c/><d></d><!-- <e> --><t><![CDATA[<f>]]></t></a>';
    expect(indentedXml(xml)).toBe(
      '<?xml version="1.0"?>\n<a x="1>2">\n  <b>one <i> <u>two</u></i> </b>\n  <c/>\n  <d></d>\n  <!-- <e> -->\n  <t><![CDATA[<f>]]></t>\n</a>',
    );
    for (const known of [xml, '<a/><b/>', '\n <a><b>1</b> and &lt;</a> and', ' <?xml version="1.0"?><a/>'])
      expect((await dataView(`"data":${JSON.stringify(known)}`)).kind).toBe('XML');
  });

  it('that only looks like XML is shown as it is', async () => {
    for (const wrong of ['</textarea><b>x</b>', '<a><b></a></b>', '<a b>', '<a>&nbsp;</a>', '<a/>&', '<', '<!--']) {
      const view = await dataView(`"data":${JSON.stringify(wrong)}`);
      expect([view.kind, text(view.html)]).toEqual(['Text', wrong]);
    }
    expect(indentedXml('<a><b>1</b><c x="', true)).toBe('<a>\n  <b>1</b><c x="');
  });

  it('that is a form is shown by its fields', async () => {
    const view = await dataView('"data":{"a":"1","9":"2","b":["<2>","3"]}', { isForm: true });
    expect(view.fields?.map(({ name, value }) => [name.html, value.html])).toEqual([
      ['a', '1'],
      ['9', '2'],
      ['b', '&lt;2&gt;'],
      ['b', '3'],
    ]);
    for (const value of ['1', '[]'])
      expect((await dataView(`"data":{"a":${value}}`, { isForm: true })).kind).toBe('JSON');
  });

  it('that is bytes is shown as hexdump shows it', async () => {
    const bytes = Buffer.from('PNG\u0000<script>0123456789', 'latin1');
    const view = await dataView(`"data_base64":"${bytes.toString('base64')}"`);
    expect([view.kind, view.size]).toEqual(['Bytes', '22 B']);
    expect(text(view.html)).toBe(
      '00000000  50 4e 47 00 3c 73 63 72  69 70 74 3e 30 31 32 33  |PNG.<script>0123|\n' +
        '00000010  34 35 36 37 38 39                                 |456789|',
    );
  });

  it.each([
    ['JSON', `{"a":[${Array(100_000).fill('"<"').join(',')}]}`],
    ['JSON', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['Text', JSON.stringify('\u0001"é'.repeat(100_000))],
    ['XML', JSON.stringify(`<a>${'<b c="1">x</b>'.repeat(30_000)}</a>`)],
    [
      'Form',
      JSON.stringify(Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`n${String(i)}`, '<'.repeat(30)]))),
    ],
  ])('that is much %s is cut', async (kind, value) => {
    const view = await dataView(`"data":${value}`, { isForm: kind === 'Form' });
    const html = [view.html, ...(view.fields ?? []).flatMap(({ name, value }) => [name.html, value.html])];
    expect([view.kind, view.isCut]).toEqual([kind, true]);
    expect(Buffer.byteLength(html.join(''))).toBeLessThanOrEqual(8 * 128 * 1024);
    expect(html.join('').length).toBeGreaterThan(5000);
  });

  it.each([
    ['Text', JSON.stringify('<a>'.repeat(33_000))],
    ['XML', JSON.stringify('<a>'.repeat(90_000))],
    ['XML', JSON.stringify(`${'<a>'.repeat(14_000)}${'</a>'.repeat(14_000)}`)],
    ['Text', JSON.stringify('<!--'.repeat(25_000))],
    ['JSON', '['.repeat(100_000)],
    ['Text', JSON.stringify(' <'.repeat(50_000))],
  ])('that is hostile %s is shown in time that grows with its length', async (kind, value) => {
    const before = process.cpuUsage();
    expect((await dataView(`"data":${value}`)).kind).toBe(kind);
    const { user, system } = process.cpuUsage(before);
    // Takes 10 to 300 ms of processor time. What is quadratic takes 10 s and more.
    expect(user + system).toBeLessThan(3_000_000);
  });

  it.each([
    ['PNG', Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')],
    ['JPEG', Buffer.from('\xff\xd8\xff\xe0', 'latin1')],
    ['GIF', Buffer.from('GIF89a')],
    ['WebP', Buffer.from('RIFF\0\0\0\0WEBPVP8 ')],
  ])('that is an image is shown: %s', async (format, bytes) => {
    const image = async (...parts: Buffer[]) =>
      (await dataView(`"data_base64":"${Buffer.concat(parts).toString('base64')}"`)).image;
    expect(await image(bytes)).toEqual({
      format,
      url: `data:image/${format.toLowerCase()};base64,${bytes.toString('base64')}`,
    });
    expect(await image(bytes, Buffer.alloc(1024 * 1024))).toEqual({ format, url: undefined });
    expect(await image(Buffer.from('x'), bytes)).toBeUndefined();
  });

  it('that is nested deeply is indented only so far', async () => {
    const { html, isCut } = await dataView(`"data":${'['.repeat(5000)}1${']'.repeat(5000)}`);
    expect([html.length < 1_000_000, isCut]).toEqual([true, false]);
  });
});
