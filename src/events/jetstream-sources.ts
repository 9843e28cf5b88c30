import { jsonOf, subjectOf, type Key } from './jetstream-subjects';
import type { JetStreamWriter } from './jetstream-writer';

/** Most sources that are remembered of one id; of more, those that used it last. */
const MOST_SOURCES = 1000;

const HOME: Key = ['home-sources'];

/**
 * Remembers which sources have used an id, so that its events are found by the id alone. The sources of the service's own
 * events are remembered once for all ids.
 */
export class JetStreamSources {
  readonly #stream: string;
  readonly #writer: JetStreamWriter;
  #home: readonly string[] = [];

  constructor(stream: string, writer: JetStreamWriter) {
    this.#stream = stream;
    this.#writer = writer;
  }

  /** Takes a source, or none, for one of the service's own from now on. */
  async settle(source: string | undefined, deadline: number): Promise<void> {
    if (source !== undefined) await this.#add(HOME, source, deadline);
    this.#home = await this.#listed(HOME, deadline);
  }

  /** The sources that an event with an id may be of. */
  async of(id: string, deadline: number): Promise<readonly string[]> {
    return [...new Set([...this.#home, ...(await this.#listed(keyOf(id), deadline))])];
  }

  /** Starts the list of an id. False: it is started already, and has to be added to. */
  async start(id: string, source: string, deadline: number): Promise<boolean> {
    if (this.#home.includes(source)) return true;
    const body = bodyOf([source]);
    return (await this.#writer.storeFirst(subjectOf(this.#stream, keyOf(id)), body, deadline)) !== undefined;
  }

  /** Adds a source to the list of an id; one that is in it only where the list has to last as long as a new event. */
  async add(id: string, source: string, isNew: boolean, deadline: number): Promise<void> {
    if (!isNew && (await this.#listed(keyOf(id), deadline)).includes(source)) return;
    await this.#add(keyOf(id), source, deadline);
  }

  async #add(key: Key, source: string, deadline: number): Promise<void> {
    let sources = await this.#listed(key, deadline);
    do {
      const list = [...sources.filter((other) => other !== source), source].slice(-MOST_SOURCES);
      await this.#writer.store(subjectOf(this.#stream, key), bodyOf(list), deadline);
      // Another writer of the same moment may have put its list behind this one.
      sources = await this.#listed(key, deadline);
    } while (!sources.includes(source));
  }

  async #listed(key: Key, deadline: number): Promise<readonly string[]> {
    const last = await this.#writer.last(this.#stream, subjectOf(this.#stream, key), deadline);
    return last === undefined ? [] : (jsonOf(last.data) as { sources: string[] }).sources;
  }
}

function keyOf(id: string): Key {
  return ['sources-of-id', id];
}

function bodyOf(sources: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify({ sources }));
}
