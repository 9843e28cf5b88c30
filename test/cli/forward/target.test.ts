import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Target } from '../../../src/cli/forward/target';
import { startTarget, type Reaction, type Target as TestTarget } from '../../support/target';

describe('a target', () => {
  let server: TestTarget;
  let target: Target;
  const open = async (react?: () => Reaction, path = '', timeout?: number): Promise<void> => {
    server = await startTarget(react);
    target = new Target(new URL(server.url + path), timeout);
  };
  afterEach(async () => {
    target.close();
    await server.close();
  });

  const post = (body = 'x') => target.post(Buffer.from(body), { 'Content-Type': 'text/plain' });

  it('gets every message over one connection', async () => {
    await open();
    for (let i = 0; i < 20; i++) expect(await post(String(i))).toMatchObject({ status: 204 });
    expect(server.connections()).toBe(1);
    expect(server.received.map(({ body }) => body.toString())).toEqual(Array.from({ length: 20 }, (_, i) => String(i)));
  });

  it('gets user and password of its address as Basic credentials, and its query', async () => {
    await open(undefined, '/a%20b?c=d#e');
    target = new Target(new URL(server.url.replace('://', '://us%40er:p%20w@') + '/a%20b?c=d#e'));
    await post();
    expect(server.received[0]).toMatchObject({
      method: 'POST',
      path: '/a%20b?c=d',
      headers: { authorization: `Basic ${Buffer.from('us@er:p w').toString('base64')}` },
    });
    expect(target.name).toBe(server.url);
  });

  it('answers on one line, however it answers', async () => {
    await open(() => ({ status: 400, body: ' a\nb\u001b[31m\u009b\u202e ' }));
    expect(await post()).toMatchObject({ status: 400, summary: '400 Bad Request: a\\nb\\u001b[31m\\u009b\\u202e' });
  });

  it('loses its connection where it answers at more length than anybody reads', async () => {
    await open(() => ({ status: 200, body: 'x'.repeat(10_000_000) }));
    for (let i = 1; i < 3; i++) {
      expect(await post()).toMatchObject({ status: 200, summary: `200 OK: ${'x'.repeat(200)}…` });
      expect(server.connections()).toBe(i);
    }
  });

  it('does not follow a redirect', async () => {
    await open(() => ({ status: 307, headers: { Location: '/elsewhere' } }));
    expect(await post()).toMatchObject({ status: 307, location: '/elsewhere' });
    expect(server.received).toHaveLength(1);
  });

  it('fails where it says nothing, or closes the connection', async () => {
    await open(() => 'silence', '', 100);
    expect(await post()).toEqual({ failure: 'there was no answer within 0.1 s' });
    expect(await post('x'.repeat(128 * 1024))).toEqual({ failure: 'there was no answer within 2.1 s' });
    await server.close();
    await open(() => 'close');
    expect(await post()).toEqual({ failure: 'socket hang up' });
    await server.close();
    expect(await post()).toEqual({ failure: `connect ECONNREFUSED ${server.url.replace('http://', '')}` });
  });

  it('has answered once its header has come, also where the rest never does', async () => {
    await open();
    const half = createServer((socket) => {
      socket.on('error', () => undefined).write('HTTP/1.1 201 Created\r\nContent-Length: 9\r\n\r\nhalf');
    });
    await new Promise<void>((resolve) => half.listen(0, '127.0.0.1', resolve));
    const url = new URL(`http://127.0.0.1:${String((half.address() as AddressInfo).port)}`);
    const slow = new Target(url, 200);
    expect(await slow.post(Buffer.from('x'), {})).toMatchObject({ status: 201, summary: '201 Created: half' });
    slow.close();
    half.close();
  });
});
