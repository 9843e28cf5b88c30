import type { MessagePort, Worker } from 'node:worker_threads';
import { Deferred } from './promises';

/** Functions that are called from another thread or process, each with one argument or none. */
type Callable<Functions> = Readonly<Record<keyof Functions, (argument: never) => unknown>>;

type RemoteMessage =
  | { readonly question: number; readonly name: string; readonly argument: unknown }
  | { readonly answers: number; readonly result: unknown }
  | { readonly answers: number; readonly failure: string };

/**
 * Asks another thread or process to call its functions, and calls functions of this one for it. Messages must arrive once and in
 * order, as structured clones; one that is sent after the other end has gone may be lost.
 */
export class Remote<Functions extends Callable<Functions>> {
  readonly #waiting = new Map<number, Deferred<unknown>>();
  #functions: Readonly<Record<string, ((argument: never) => unknown) | undefined>> = {};
  #asked = 0;
  #ended: Error | undefined;

  /**
   * @param send - sends a message to {@link receive} of the other end.
   * @param described - what the other end learns of an error of a function.
   */
  constructor(
    private readonly send: (message: unknown) => void,
    private readonly described = (error: unknown) => (error as Error).message,
  ) {}

  /** Returns the functions of another thread, given as its worker or, in the worker, as its port. They fail once it has ended. */
  static ofThread<Functions extends Callable<Functions>>(
    thread: Worker | MessagePort,
    described?: (error: unknown) => string,
  ): Remote<Functions> {
    const remote = new Remote<Functions>((message) => thread.postMessage(message), described);
    thread.on('message', remote.receive).on('error', remote.end);
    thread.on('exit', () => remote.end(new Error('a thread of the service has ended')));
    return remote;
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** Calls a function at the other end, in order. Throws the reason why the function failed, or the error of {@link end}. */
  async ask<Name extends keyof Functions & string>(
    name: Name,
    ...[argument]: Parameters<Functions[Name]>
  ): Promise<Awaited<ReturnType<Functions[Name]>>> {
    if (this.#ended !== undefined) throw this.#ended;
    const answer = new Deferred<unknown>();
    const question = this.#asked++;
    // Throws for an argument that cannot be cloned, of which no answer comes. None comes before this function ends.
    this.send({ question, name, argument } satisfies RemoteMessage);
    this.#waiting.set(question, answer);
    return answer.promise as Promise<Awaited<ReturnType<Functions[Name]>>>;
  }

  /** As {@link ask}, without waiting: the other end may have gone. */
  tell<Name extends keyof Functions & string>(name: Name, ...argument: Parameters<Functions[Name]>): void {
    this.ask(name, ...argument).catch(() => undefined);
  }

  /** Sets the functions that the other end may call. Until then its questions fail. */
  serve<Served extends Partial<Callable<Served>>>(functions: Served): void {
    this.#functions = functions;
  }

  /** Takes a message from the other end. Ignores messages in the form of another build. */
  readonly receive = (received: unknown): void => {
    if (typeof received !== 'object' || received === null) return;
    const message = received as RemoteMessage;
    if ('name' in message) void this.#call(message);
    else if ('answers' in message) {
      const answer = this.#waiting.get(message.answers);
      this.#waiting.delete(message.answers);
      if ('failure' in message) answer?.reject(new Error(message.failure));
      else answer?.resolve(message.result);
    }
  };

  async #call({ question, name, argument }: Extract<RemoteMessage, { readonly name: string }>): Promise<void> {
    try {
      const call = this.#functions[name];
      if (call === undefined) throw new Error(`there is no function ${name} yet`);
      const result = await call(argument as never);
      this.send({ answers: question, result } satisfies RemoteMessage);
    } catch (error) {
      this.send({ answers: question, failure: this.described(error) } satisfies RemoteMessage);
    }
  }

  /** Rejects the questions that are not answered, and all later ones: the other end has gone. */
  readonly end = (error: Error): void => {
    this.#ended ??= error;
    for (const answer of this.#waiting.values()) answer.reject(this.#ended);
    this.#waiting.clear();
  };
}
