import { Agent } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { BINDINGS, eventsOf, requestOf, resultOf, type BindingName, type CloudEvent } from './bindings';
import { eventually } from './eventually';
import { send } from './http';

/** What a load is made of. */
interface LoadOptions {
  readonly callers?: number;
  /** How long a caller waits after each call, in milliseconds. */
  readonly pause?: number;
  /** How many characters an event has beside its mark. */
  readonly size?: () => number;
  /** How many copies of each event are sent at the same moment, over different bindings; 0 for one without a key, which is not sent again. */
  readonly copies?: (caller: number) => number;
}

/** An event that was answered: its mark, which is its Idempotency-Key if it has one, and what answered it. */
interface Answered {
  readonly mark: string;
  readonly id: string;
  readonly url: string;
  /** When, by `performance.now()`. */
  readonly at: number;
}

const runningLoads = new Set<Load>();

// Stops what a failed test left running.
afterAll(() => Promise.all([...runningLoads].map((load) => load.stop())));

/**
 * Records events from several callers at once, each over all four bindings in turn, until it is stopped. What has a key is sent again
 * until it is answered, as senders do.
 */
export class Load {
  readonly answered: Answered[] = [];
  /** The texts of the failures. */
  readonly faults = new Set<string>();
  failed = 0;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #calling: Promise<unknown>;
  #isOver = false;

  /** @param urlOf - the address that a caller calls now. */
  constructor(
    readonly urlOf: (caller: number) => string,
    readonly options: LoadOptions = {},
  ) {
    runningLoads.add(this);
    this.#calling = Promise.all(Array.from({ length: options.callers ?? 1 }, (_, caller) => this.#call(caller)));
  }

  async #call(caller: number): Promise<void> {
    const { copies = () => 1, size = () => 0 } = this.options;
    for (let n = 0; !this.#isOver; n++) {
      const mark = `m${String(caller)}-${String(n)}-`;
      const text = mark + 'x'.repeat(size());
      const isKeyed = copies(caller) > 0;
      const sent = Array.from({ length: Math.max(copies(caller), 1) }, async (_, copy) => {
        // Copies hold the same data: XML over both SOAP bindings, or a field over GET and POST.
        const turn = (caller + n) % BINDINGS.length;
        const binding = BINDINGS[copy % 2 === 0 ? turn : turn ^ 1] ?? 'soap11';
        while (!(await this.#record(mark, text, caller, binding, isKeyed)) && isKeyed && !this.#isOver);
      });
      await Promise.all(sent);
    }
  }

  /** Resolves to whether the call was answered, after the pause. */
  async #record(mark: string, text: string, caller: number, binding: BindingName, isKeyed: boolean): Promise<boolean> {
    const { path, ...question } = requestOf(binding, 'RecordEvent', `<mark>${text}</mark>`);
    const headers = { ...question.headers, ...(isKeyed && { 'Idempotency-Key': mark }) };
    const body = binding === 'httppost' ? `mark=${text}` : question.body;
    const url = this.urlOf(caller);
    const { pause = 0 } = this.options;
    try {
      const address = url + path + (binding === 'httpget' ? `mark=${text}` : '');
      const answer = await send(address, { ...question, ...(body && { body }), headers, agent: this.#agent });
      if (answer.status !== 200) throw new Error(`${String(answer.status)}: ${answer.body}`);
      this.answered.push({ mark, id: resultOf(answer), url, at: performance.now() });
      if (pause > 0) await setTimeout(pause);
      return true;
    } catch (error) {
      this.failed++;
      this.faults.add((error as Error).message);
      await setTimeout(pause || 20);
      return false;
    }
  }

  /** Waits until as many more calls were answered, the first of which may have begun before. */
  async goesOn(calls = (this.options.callers ?? 1) + 1): Promise<void> {
    const until = this.answered.length + calls;
    await eventually(
      `calls are answered; the last failures: ${[...this.faults].slice(-3).join()}`,
      () => this.answered.length >= until,
    );
  }

  /** The longest time without an answer between two moments, in milliseconds. */
  longestPause(from: number, to = performance.now()): number {
    const answered = this.answered.map(({ at }) => at).filter((at) => at > from && at < to);
    const times = [from, ...answered, to];
    return Math.round(Math.max(...times.slice(1).map((time, i) => time - (times[i] ?? 0))));
  }

  /** Resolves once no call is under way. */
  async stop(): Promise<void> {
    this.#isOver = true;
    runningLoads.delete(this);
    await this.#calling;
    this.#agent.destroy();
  }
}

/** Pages through a log with `after`, again and again, and calls again where a call fails, until it is stopped. */
export class Reader {
  readonly events: CloudEvent[] = [];
  readonly #reading: Promise<void>;
  #isOver = false;

  constructor(readonly urlOf: () => string) {
    this.#reading = this.#read();
  }

  async #read(): Promise<void> {
    for (let isLast = false; ;) {
      const after = this.events.at(-1)?.sequence ?? '0';
      const wait = isLast ? '' : '&wait=200ms';
      let page: CloudEvent[] | undefined;
      await eventually('GetEvents is answered', async () => {
        const { status, body } = await send(`${this.urlOf()}/GetEvents?after=${after}${wait}`, {
          headers: { Accept: 'application/json' },
        }).catch(() => ({ status: 0, body: '' }));
        if (status === 200) page = eventsOf(body);
        return page !== undefined;
      });
      this.events.push(...(page ?? []));
      if (page?.length === 0 && isLast) return;
      isLast = this.#isOver;
    }
  }

  /** Resolves to all events of the log, which nobody records to any more. */
  async stop(): Promise<CloudEvent[]> {
    this.#isOver = true;
    await this.#reading;
    return this.events;
  }
}

/** Reads the whole log over HTTP, page by page. */
export function readEveryEvent(url: string): Promise<CloudEvent[]> {
  return new Reader(() => url).stop();
}

/** What {@link verdict} says of a log that has every answered event once, and of a reader that was given each of them in order. */
export const WHOLE = { lost: [], twice: [], skipped: [] };

/** Compares what a load was answered, what is in the log, and what a reader was given meanwhile. */
export function verdict({ answered }: Load, logged: readonly CloudEvent[], read = logged) {
  const idsOf = new Map<string, string[]>();
  for (const { id, data } of logged) {
    const mark = /m\d+-\d+-/.exec(JSON.stringify(data ?? ''))?.[0] ?? id;
    idsOf.set(mark, [...(idsOf.get(mark) ?? []), id]);
  }
  const given = read.map(({ id }) => id);
  const known = new Set(given);
  const skipped = logged.filter(({ id }) => !known.has(id)).map(({ id }) => id);
  const isInOrder = given.join() === logged.map(({ id }) => id).join();
  return {
    lost: answered.filter(({ mark, id }) => idsOf.get(mark)?.includes(id) !== true),
    twice: [...idsOf].filter(([, ids]) => ids.length > 1),
    skipped: skipped.length > 0 || isInOrder ? skipped : ['the order is another'],
  };
}
