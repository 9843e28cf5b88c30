import { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { reply, SMALL_ANSWER } from '../../src/http/reply';
import { HttpRequest, MessageMemory } from '../../src/http/request';

function answered(bytes: number, answers = new MessageMemory(1_000_000, SMALL_ANSWER)) {
  const request = new HttpRequest(new Socket());
  request.answers = answers;
  request.complete = true;
  const response = new ServerResponse(request);
  reply(response, 200, 'text/plain', 'x'.repeat(bytes));
  return { answers, response };
}

describe('the memory of an answer', () => {
  it.each([
    ['its bytes', 300_000, 300_000],
    ['none where it is small', 4000, 0],
  ])('counts %s, until it is sent', (_what, bytes, counted) => {
    const { answers, response } = answered(bytes);
    expect(answers.bytes).toBe(counted);
    response.emit('close');
    expect(answers.bytes).toBe(0);
  });

  it('is refused where there is too little left', () => {
    const { answers } = answered(600_000);
    expect(() => answered(500_000, answers)).toThrow('MAX_BODY_MEMORY');
    expect(answers.bytes).toBe(600_000);
  });
});

it('gives the socket 64 KiB of an answer at a time: TLS holds what it is given a second time, encrypted', async () => {
  const { response } = answered(300_000);
  await new Promise(setImmediate);
  expect(response.writableLength).toBeGreaterThan(65_536);
  expect(response.writableLength).toBeLessThan(66_536);
});
