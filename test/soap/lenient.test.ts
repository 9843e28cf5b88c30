import { envelope11, envelope12, eventsOf, callOperation, NAMESPACE, resultOf } from '../support/bindings';
import { send, type Answer } from '../support/http';
import { startService, useService } from '../support/service';

const VERSIONS = [
  ['SOAP 1.1', 'text/xml', envelope11],
  ['SOAP 1.2', 'application/soap+xml', envelope12],
] as const;

const ACTION = `${NAMESPACE}HelloWorld`;

it('a repeated message is routed, and read, by its own SOAPAction each time', async () => {
  const service = await startService();
  const results: string[] = [];
  for (const operation of ['HelloWorld', 'RecordEvent', 'HelloWorld', 'GetEvents']) {
    const headers = { 'Content-Type': 'text/xml', SOAPAction: `"${NAMESPACE}${operation}"` };
    const body = envelope11('HelloWorld', '<note/>');
    results.push(resultOf(await send(service.url, { method: 'POST', headers, body })));
  }
  const [hello, id, again, events = ''] = results;
  expect([hello, again]).toEqual(['Hello World', 'Hello World']);
  expect(eventsOf(events)).toMatchObject([{ id, data: expect.stringContaining('<note/>') as string }]);
});

it.each([
  ['1.1 by its SOAPAction, not an action', `text/xml; action="${ACTION}"`, `${NAMESPACE}RecordEvent`, envelope11],
  ['1.2 by its element, not a SOAPAction', 'text/xml', ACTION, envelope12],
])('a message of SOAP %s is routed, and read', async (_how, type, SOAPAction, envelope) => {
  const { url } = await startService();
  const headers = { 'Content-Type': type, SOAPAction };
  const answer = await send(url, { method: 'POST', headers, body: envelope('RecordEvent', '<note/>') });
  const events = eventsOf(await callOperation(url, 'httpget', 'GetEvents'));
  expect(events).toMatchObject([{ id: resultOf(answer), data: `<note xmlns="${NAMESPACE}"/>` }]);
});

describe.each(VERSIONS)('what the original reads on through is answered over %s', (_version, type, envelope) => {
  const service = useService();

  const post = (contentType: string, body: string | Buffer): Promise<Answer> =>
    send(service.url, { method: 'POST', headers: { 'Content-Type': contentType }, body });

  /** What RecordEvent records of a note with this text. */
  async function recorded(charset: string, note: Buffer): Promise<unknown> {
    const [before = '', after = ''] = envelope('RecordEvent', '<note>|</note>')
      .replace(/^<\?xml.*?\?>/, '')
      .split('|');
    const answer = await post(`${type}${charset}`, Buffer.concat([Buffer.from(before), note, Buffer.from(after)]));
    expect(answer.status).toBe(200);
    const [event] = eventsOf(await callOperation(service.url, 'httpget', 'GetEvents')).slice(-1);
    return /<note[^>]*>(.*)<\/note>/.exec(String(event?.data))?.[1];
  }

  it.each([
    ['Latin-1 as UTF-8', '; charset=utf-8', Buffer.from('Grüße', 'latin1')],
    ['UTF-8 under the number of a code page', '; charset=cp65001', Buffer.from('Grüße')],
    ['UTF-8 under another name', '; charset=iso-2022-jp', Buffer.from('Grüße')],
    ['UTF-8 under a name of nothing', '; charset=bogus', Buffer.from('Grüße')],
    ['a character set named twice', '; charset="utf-8,utf-8"', Buffer.from('Grüße')],
    ['a header field that was set twice', `; charset=utf-8, ${type}; charset=utf-8`, Buffer.from('Grüße')],
  ])('%s', async (_what, charset, note) => {
    expect(await recorded(charset, note)).toBe('Grüße');
  });

  it('reads the same bytes anew under another character set', async () => {
    const note = Buffer.from('Grüße');
    expect(await recorded('; charset=utf-8', note)).toBe('Grüße');
    expect(await recorded('; charset=iso-8859-1', note)).toBe('GrÃ¼Ã\u0178e');
  });

  it.each([
    ['a declaration', '', '<?xml version="1.0" encoding="utf-16"?>'],
    ['a content type', '; charset=utf-16', ''],
    ['both', '; charset=unicode', '<?xml version="1.0" encoding="UTF-16LE"?>'],
  ])('%s of UTF-16 over UTF-8', async (_what, charset, declaration) => {
    const body = envelope('HelloWorld').replace(/^<\?xml.*?\?>/, declaration);
    expect((await post(`${type}${charset}`, body)).body).toContain('Hello World');
  });

  it('NULs after the message, but not inside', async () => {
    for (const count of [1, 700])
      expect((await post(type, envelope('HelloWorld') + '\0'.repeat(count))).body).toContain('Hello World');
    expect((await post(type, envelope('HelloWorld').replace('<soap', '\0<soap'))).status).toBe(400);
  });

  it('white space around the number in an argument', async () => {
    expect((await post(type, envelope('GetEvents', '<after>\n 41 </after>'))).status).toBe(200);
    expect((await post(type, envelope('GetEvents', '<after>4 1</after>'))).status).toBe(500);
  });

  it.each([
    ['as it is', ACTION],
    ['URL-encoded', encodeURIComponent(ACTION)],
    ['in single quotes', `'${ACTION}'`],
    ['with escapes of UTF-16 code units', ACTION.replace('W', '%u0057')],
  ])('an action %s, without a SOAPAction', async (_what, action) => {
    // The body names no operation, so that the action alone can.
    const answer = await post(`${type}; action="${action}"`, envelope('Nope'));
    expect([answer.status, answer.body]).toEqual([200, expect.stringContaining('HelloWorldResult')]);
  });
});

it('a namespace with letters beyond ASCII is called with a SOAPAction in UTF-8, as PHP sends it, or in Latin-1', async () => {
  const namespace = 'http://müller.example/';
  const service = await startService({ SERVICE_NAMESPACE: namespace });
  for (const encoding of ['utf8', 'latin1'] as const) {
    const answer = await send(service.url, {
      method: 'POST',
      // Node writes a header value as Latin-1 where the body is no string.
      headers: {
        'Content-Type': 'text/xml',
        SOAPAction: `"${Buffer.from(`${namespace}HelloWorld`, encoding).toString('latin1')}"`,
      },
      body: Buffer.from(envelope11('HelloWorld').replace(NAMESPACE, namespace)),
    });
    expect([encoding, answer.status, answer.body]).toEqual([encoding, 200, expect.stringContaining('Hello World')]);
  }
});
