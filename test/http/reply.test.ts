import { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { MessageMemory } from '../../src/http/content/message-memory';
import { reply, SMALL_ANSWER } from '../../src/http/reply';
import { HttpRequest } from '../../src/http/request';

describe('the memory of an answer', () => {
  const answered = (socket: Socket, bytes: number, answers = new MessageMemory(1_000_000, SMALL_ANSWER)) => {
    const request = new HttpRequest(socket);
    request.answers = answers;
    request.complete = true;
    const response = new ServerResponse(request);
    reply(response, 200, 'text/plain', 'x'.repeat(bytes));
    return { answers, response };
  };

  it.each<[string, () => Socket, number, number]>([
    ['once', () => new Socket(), 300_000, 300_000],
    ['twice over TLS, where it is held encrypted too', () => new TLSSocket(new Socket()), 300_000, 600_000],
    ['as all there is over TLS where it fits only once', () => new TLSSocket(new Socket()), 700_000, 1_000_000],
    ['not at all where it is small', () => new TLSSocket(new Socket()), 4000, 0],
  ])('counts %s, until it is sent', (_how, socket, bytes, counted) => {
    const { answers, response } = answered(socket(), bytes);
    expect(answers.bytes).toBe(counted);
    response.emit('close');
    expect(answers.bytes).toBe(0);
  });

  it('is refused where there is too little left', () => {
    const { answers } = answered(new TLSSocket(new Socket()), 300_000);
    expect(() => answered(new Socket(), 500_000, answers)).toThrow('MAX_BODY_MEMORY');
    expect(answers.bytes).toBe(600_000);
  });
});
