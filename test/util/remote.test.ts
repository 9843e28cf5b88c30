import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Remote } from '../../src/util/remote';

interface Functions {
  twice(number: number): number;
  later(): Promise<string>;
  fail(problem: string): never;
  hear(text: string): void;
}

const ports: MessagePort[] = [];
afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

/** Two ends, of which the second serves, and what that has heard. */
function pair() {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  const [asking, serving] = [port1, port2].map((port) =>
    Remote.ofThread<Functions>(port, (error) => `said: ${(error as Error).message}`),
  ) as [Remote<Functions>, Remote<Functions>];
  const heard: string[] = [];
  serving.serve<Functions>({
    twice: (number) => 2 * number,
    later: () => new Promise((resolve) => setTimeout(resolve, 10, 'later')),
    fail(problem) {
      throw new Error(problem);
    },
    hear: (text) => void heard.push(text),
  });
  return { asking, serving, heard };
}

describe('another thread or process', () => {
  it('answers each question with the result of its function, also a later one first, and nothing stays of it, nor of one that cannot be sent', async () => {
    const { asking } = pair();
    const set = jest.spyOn(Map.prototype, 'set');
    const first = asking.ask('later');
    const waiting = set.mock.contexts[0] as Map<number, unknown>;
    set.mockRestore();
    expect(await asking.ask('twice', 21)).toBe(42);
    expect(waiting.size).toBe(1);
    expect(await first).toBe('later');
    await expect(asking.ask('twice', (() => 1) as never)).rejects.toThrow('could not be cloned');
    expect(waiting.size).toBe(0);
  });

  it('may ask too', async () => {
    const { asking, serving } = pair();
    asking.serve({ twice: (number: number) => 3 * number });
    expect(await Promise.all([asking.ask('twice', 1), serving.ask('twice', 1)])).toEqual([2, 3]);
  });

  it('calls a function without an answer before one that is asked for later', async () => {
    const { asking, heard } = pair();
    asking.tell('hear', 'one');
    asking.tell('fail', 'which no one hears');
    await asking.ask('twice', 1);
    expect(heard).toEqual(['one']);
  });

  it('says why a function failed, in the words that it chooses', async () => {
    const { asking } = pair();
    await expect(asking.ask('fail', 'no room')).rejects.toThrow('said: no room');
  });

  it('fails a question for a result that cannot be sent, and one for a function that it does not have yet', async () => {
    const { asking, serving } = pair();
    serving.serve({ later: () => () => 'a function' });
    await expect(asking.ask('later')).rejects.toThrow('could not be cloned');
    await expect(asking.ask('twice', 1)).rejects.toThrow('there is no function twice yet');
  });

  it('passes over what is not a message, and an answer to no question', async () => {
    const { asking } = pair();
    for (const message of [undefined, null, 'retire', 7, {}, { answers: 99, result: 1 }, { answers: 98, failure: '' }])
      asking.receive(message);
    expect(await asking.ask('twice', 2)).toBe(4);
  });

  it('that has gone fails the questions that wait and all later ones, with the first reason', async () => {
    const { asking } = pair();
    const waiting = asking.ask('later');
    asking.end(new Error('it has gone'));
    asking.end(new Error('again'));
    await expect(waiting).rejects.toThrow('it has gone');
    await expect(asking.ask('twice', 1)).rejects.toThrow('it has gone');
    asking.tell('hear', 'nothing');
  });
});
