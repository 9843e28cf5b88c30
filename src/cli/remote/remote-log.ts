import { setTimeout as delay } from 'node:timers/promises';
import type { StoredEvent } from '../../events/stored-event';
import type { EventQuery, SearchQuery, Start } from '../../log/queries';
import { followed, type ReadableLog } from '../../log/readable-log';
import { reasonOf } from '../../util/errors';
import { HttpClient, type StreamedAnswer } from '../http-client';
import { eventsIn, lastIn, nameOf, notAsked, refuse, RemoteLogError } from './remote-answer';

interface RemoteSource {
  readonly url: URL;
  readonly key?: string | undefined;
  readonly ca?: string | undefined;
}

/** How long a service may be silent, in milliseconds; while there are no events it sends an empty line every 2 s. */
const SILENCE = 15_000;

/** Pauses between two tries, in milliseconds: the first, and the longest. */
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 5000;

/** How long one answer goes on with new events, in seconds: events are as late behind a proxy that holds answers back until they end. */
const WAIT = 10;

/**
 * Reads the log of a service over HTTP, with `?events=export` of its events' pages: one download for all events, or for all that a
 * search finds. Once the service has answered, a download that ends early goes on after the last event, for as long as it takes.
 * Holds the events of a chunk at a time.
 */
export class RemoteLog implements ReadableLog {
  readonly #http: HttpClient;
  #hasAnswered = false;
  /** Whether the line that the service does not answer has been printed. */
  #isMissing = false;

  constructor(
    private readonly source: RemoteSource,
    private readonly stop: AbortSignal,
    private readonly wait = WAIT,
  ) {
    this.#http = new HttpClient({ timeout: SILENCE, ca: source.ca }, 0);
  }

  async scan({ id, position, after = 0, since, limit }: EventQuery) {
    const begin = position === undefined ? after : Math.max(0, position - 1);
    const events: StoredEvent[] = [];
    for await (const page of this.#download({ ...fromStart({ after: begin, since }), id, limit })) {
      events.push(...page.slice(0, limit - events.length));
      if (events.length === limit) break;
    }
    if (id !== undefined && events.some((event) => event.id !== id)) throw notAsked('id');
    return position === undefined ? events : events.filter((event) => event.position === position);
  }

  async stats() {
    const response = await this.#asked({ after: Number.MAX_SAFE_INTEGER }, 'HEAD');
    response.body.resume();
    return { last: lastIn(response) };
  }

  pages(start: Start) {
    return this.#download(fromStart(start));
  }

  async *find({ from, to, before, ...search }: Omit<SearchQuery, 'limit'>) {
    // A download that goes on later must not find what was recorded meanwhile.
    const end = Math.min(before ?? Infinity, (await this.stats()).last + 1);
    for await (const page of this.#download({ ...search, before: end, from: timeText(from), to: timeText(to) }))
      yield* page;
  }

  follow(...[start, stop, changed]: Parameters<ReadableLog['follow']>) {
    return followed(this, start, stop, changed, (after) => this.#news(after));
  }

  /** Ends with the answer, however that ends: the service may have another log when it is back. */
  async *#news(after: number): AsyncGenerator<readonly StoredEvent[]> {
    try {
      yield* this.#answer({ after, wait: this.wait });
    } catch (error) {
      await this.#orAgain(error);
    }
  }

  /** Goes on after the last event if it is cut off. */
  async *#download(parameters: Query): AsyncGenerator<readonly StoredEvent[]> {
    let { after } = parameters;
    for (;;) {
      try {
        for await (const page of this.#answer({ ...parameters, after })) {
          yield page;
          after = page.at(-1)?.position;
        }
        return;
      } catch (error) {
        await this.#orAgain(error);
      }
    }
  }

  async *#answer(parameters: Query): AsyncGenerator<readonly StoredEvent[]> {
    const response = await this.#asked(parameters);
    try {
      yield* eventsIn(response, Number(parameters.after ?? 0));
    } finally {
      response.body.destroy();
    }
  }

  /** Waits before another attempt, or throws if another one cannot help. */
  async #orAgain(error: unknown): Promise<void> {
    if (error instanceof RemoteLogError || this.stop.aborted) throw error;
    if (error instanceof RangeError) throw new RemoteLogError('The service sent too long a line.');
    await this.#pause(FIRST_PAUSE);
  }

  async #pause(milliseconds: number): Promise<void> {
    await delay(milliseconds, undefined, { signal: this.stop }).catch(() => undefined);
    this.stop.throwIfAborted();
  }

  /** Asks until there is an answer with events; at first only once. */
  async #asked(parameters: Query, method: 'GET' | 'HEAD' = 'GET'): Promise<StreamedAnswer> {
    const { url } = this.source;
    for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      try {
        const response = await this.#open(addressOf(url, parameters), method);
        if (this.#isMissing) console.error('The service answers again.');
        this.#isMissing = false;
        this.#hasAnswered = true;
        return response;
      } catch (error) {
        this.stop.throwIfAborted();
        if (error instanceof RemoteLogError) throw error;
        const problem = `${nameOf(url)}: ${reasonOf(error)}.`;
        if (!this.#hasAnswered) throw new RemoteLogError(problem);
        // A service that starts again is back after the first pause.
        if (pause > FIRST_PAUSE && !this.#isMissing) {
          console.error(`${problem} Trying again until it answers.`);
          this.#isMissing = true;
        }
      }
      await this.#pause(pause);
    }
  }

  async #open(url: URL, method: 'GET' | 'HEAD'): Promise<StreamedAnswer> {
    const { key } = this.source;
    // The user and password of the address go as Authorization: they are those of a proxy.
    const isFree = url.username === '' && url.password === '';
    const field = key && (isFree ? { Authorization: `Bearer ${key}` } : { 'X-API-Key': key });
    const headers = { Accept: 'application/x-ndjson', 'Accept-Encoding': 'deflate', ...field };
    const response = await this.#http.open(url, { method, headers }, this.stop);
    await refuse(response, url);
    return response;
  }
}

type Query = Readonly<Record<string, string | number | undefined>>;

function fromStart({ after, since }: Start): Query {
  return { after, from: timeText(since) };
}

function timeText(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString();
}

function addressOf(url: URL, parameters: Query): URL {
  const address = new URL(url);
  address.search = 'events=export';
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) address.searchParams.set(name, String(value));
  }
  return address;
}
