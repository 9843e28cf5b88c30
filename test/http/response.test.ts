import { Socket } from 'node:net';
import { MessageMemory } from '../../src/http/content/message-memory';
import { HttpRequest } from '../../src/http/request';
import { HttpResponse } from '../../src/http/response';

function answered(bytes: number, memory = new MessageMemory(1_000_000), coding?: string) {
  const request = new HttpRequest(new Socket());
  request.headers = { 'accept-encoding': coding };
  request.complete = true;
  const response = new HttpResponse(request);
  response.memory = memory;
  if (coding === undefined) response.reply(200, 'text/plain', 'x'.repeat(bytes));
  else void response.replyCompressed('text/plain', 'x'.repeat(bytes));
  return { memory, response };
}

describe('the memory of an answer', () => {
  it.each([
    ['its bytes', 300_000, 300_000],
    ['none where it is small', 4000, 0],
  ])('counts %s, until it is sent', (_what, bytes, counted) => {
    const { memory, response } = answered(bytes);
    expect(memory.bytes).toBe(counted);
    response.emit('close');
    expect(memory.bytes).toBe(0);
  });

  it('is given back once, however often it changes', () => {
    const { memory, response } = answered(5000);
    const listeners = response.listenerCount('close');
    for (let i = 0; i < 20; i++) response.reserve(5000 * (i % 2));
    expect([memory.bytes, response.listenerCount('close')]).toEqual([5000, listeners]);
    response.emit('close');
    expect(memory.bytes).toBe(0);
  });

  it('counts nothing once the caller has gone', () => {
    const { memory, response } = answered(0);
    response.destroy();
    response.reserve(5000);
    expect(memory.bytes).toBe(0);
  });

  it.each([undefined, 'gzip'])('is refused where there is too little left, before it is compressed (%s)', (coding) => {
    const { memory } = answered(600_000);
    expect(() => answered(500_000, memory, coding)).toThrow('MAX_BODY_MEMORY');
    expect(memory.bytes).toBe(600_000);
  });
});

it('gives the socket 64 KiB of an answer at a time: TLS holds what it is given a second time, encrypted', async () => {
  const { response } = answered(300_000);
  await new Promise(setImmediate);
  expect(response.writableLength).toBeGreaterThan(65_536);
  expect(response.writableLength).toBeLessThan(66_536);
});

it('the body of a request whose connection has closed is cut short', async () => {
  const request = new HttpRequest(new Socket()).destroy();
  await expect(request.takeBody()).rejects.toThrow('the connection was closed before its end');
});
