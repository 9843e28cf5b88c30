import type { BeginCall, Stream } from '../../src/log/jetstream/stream';

interface Message {
  readonly seq: number;
  readonly subject: string;
  readonly data: Uint8Array;
  readonly time: Date;
}

/** A stream in memory, as far as recording needs one. */
export class FakeStream implements Partial<Stream> {
  readonly name: string;
  messages: Message[] = [];
  #last = 0;

  constructor(name: string) {
    this.name = name;
  }

  put(subject: string, data: Uint8Array): Promise<void> {
    this.messages.push({ seq: ++this.#last, subject, data, time: new Date() });
    return Promise.resolve();
  }

  async putFirst(subject: string, data: Uint8Array): Promise<number | undefined> {
    if ((await this.last(subject)) !== undefined) return undefined;
    await this.put(subject, data);
    return this.#last;
  }

  last(subject: string): ReturnType<Stream['last']> {
    return this.#found(this.messages.findLast((message) => message.subject === subject));
  }

  at(position: number): ReturnType<Stream['at']> {
    return this.#found(this.messages.find(({ seq }) => seq === position));
  }

  state(): ReturnType<Stream['state']> {
    return Promise.resolve({
      first: 1,
      last: this.#last,
      messages: this.messages.length,
      bytes: 0,
      firstTime: undefined,
    });
  }

  maxBytes(): number {
    return Infinity;
  }

  remove(position: number): Promise<void> {
    return this.erase(position);
  }

  erase(position: number): Promise<void> {
    this.messages = this.messages.filter(({ seq }) => seq !== position);
    return Promise.resolve();
  }

  #found(message: Message | undefined): ReturnType<Stream['last']> {
    return Promise.resolve(message as Awaited<ReturnType<Stream['last']>>);
  }
}

/** The streams of a log in memory. */
export function fakeStreams() {
  const [events, keys, probe] = [new FakeStream('E'), new FakeStream('E_KEYS'), new FakeStream('E_PROBE')];
  const begin = (() => ({
    events,
    keys,
    probe,
    deadline: performance.now() + 5000,
  })) as unknown as BeginCall;
  return { events, keys, begin };
}
