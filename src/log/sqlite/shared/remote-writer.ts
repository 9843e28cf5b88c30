import type { Duplex } from 'node:stream';
import { deferred, type Deferred } from '../../../util/deferred';
import type { RecordedEvents } from '../insertion';
import type { Writer } from '../writer';
import { FrameReader, writeFrame, type Frame } from './frames';
import { ANSWER, partsOf, QUESTION, unpackRecorded } from './messages';

/** Call numbers begin anew after this one: they have 32 bits. */
const MAX_CALL = 0xffffffff;

/** The writer in another process, asked over a pipe: a {@link SharedWriter} is at its other end. */
export class RemoteWriter implements Writer {
  readonly #pipe: Duplex;
  readonly #frames = new FrameReader();
  readonly #answers = new Map<number, Deferred<Buffer>>();
  readonly #listeners = new Set<(newest: number) => void>();
  #calls = 0;
  #isOpen = true;

  constructor(pipe: Duplex) {
    this.#pipe = pipe;
    pipe.on('data', (piece: Buffer) => {
      for (const frame of this.#frames.add(piece)) this.#received(frame);
    });
    pipe.on('error', () => undefined);
    pipe.on('close', () => {
      this.#isOpen = false;
      for (const answer of this.#answers.values()) answer.reject(new Error('the process that writes has ended'));
      this.#answers.clear();
    });
  }

  async append(batches: readonly Buffer[]): Promise<RecordedEvents[]> {
    return unpackRecorded(await this.#ask(QUESTION.append, partsOf(batches)));
  }

  async check(): Promise<void> {
    await this.#ask(QUESTION.check);
  }

  watch(listener: (newest: number) => void): () => void {
    if (this.#listeners.size === 0) this.#send(0, QUESTION.watch);
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#send(0, QUESTION.unwatch);
    };
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#answers.values()].map(({ promise }) => promise));
    this.#pipe.destroy();
  }

  #ask(kind: number, content?: readonly Buffer[]): Promise<Buffer> {
    if (!this.#isOpen) return Promise.reject(new Error('the process that writes has ended'));
    this.#calls = this.#calls === MAX_CALL ? 1 : this.#calls + 1;
    const answer = deferred<Buffer>();
    this.#answers.set(this.#calls, answer);
    this.#send(this.#calls, kind, content);
    return answer.promise;
  }

  #send(call: number, kind: number, content: readonly Buffer[] = []): void {
    if (this.#isOpen) writeFrame(this.#pipe, call, kind, ...content);
  }

  #received({ call, kind, content }: Frame): void {
    if (kind === ANSWER.newest) {
      for (const listener of this.#listeners) listener(Number(content.toString()));
      return;
    }
    const answer = this.#answers.get(call);
    this.#answers.delete(call);
    if (kind === ANSWER.done) answer?.resolve(content);
    else answer?.reject(new Error(content.toString()));
  }
}
