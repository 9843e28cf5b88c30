import { setTimeout as delay } from 'node:timers/promises';
import { ArchiveLine } from '../events/archive-line';
import type { StoredEvent } from '../events/stored-event';
import type { SearchQuery, Start } from '../log/queries';
import { ReadableLog } from '../log/readable-log';
import { reasonOf } from '../util/errors';
import { oneLine } from '../util/text';
import { HttpClient, isTemporary, pauseAfter, wholeOf, type StreamedAnswer } from './http-client';
import { linesOf } from './terminal';

/** How long a service may be silent, in milliseconds; while there are no events it sends an empty line every 2 s. */
const SILENCE = 15_000;

/** The longest pause between two tries, in milliseconds. */
const LONGEST_PAUSE = 5000;

/** How long one answer goes on with new events, in seconds: events are as late behind a proxy that holds answers back until they end. */
const WAIT = 10;

/** Bytes of an answer without events that are read. */
const MAX_REASON = 1024;

/** Thrown for an answer that no further try will change; the message is one line. */
class RemoteLogError extends Error {
  override readonly name = 'RemoteLogError';
}

/** What is asked for; the service refuses parameters that it does not know. */
interface Query extends Readonly<Record<string, string | number | undefined>> {
  readonly after: number;
}

/**
 * Reads the log of a service over HTTP, with `?events=export` of its events' pages: one download for all events, or for all that a
 * search finds. Once the service has answered, a download that ends early goes on after the last event, for as long as it takes.
 * Holds the events of a chunk at a time. Its own signal ends every method, and is the one that methods are given.
 */
export class RemoteLog implements ReadableLog {
  readonly #http = new HttpClient();
  #hasAnswered = false;
  /** The user has been told that the service does not answer. */
  #isMissing = false;

  constructor(
    private readonly source: { readonly url: URL; readonly key?: string | undefined },
    private readonly stop: AbortSignal,
    private readonly wait = WAIT,
  ) {}

  async scan({ id, position, after = 0, since, limit }: Parameters<ReadableLog['scan']>[0]) {
    const begin = position === undefined ? after : Math.max(0, position - 1);
    const events: StoredEvent[] = [];
    for await (const page of this.#download({ ...fromStart({ after: begin, since }), id, limit })) {
      events.push(...page.slice(0, limit - events.length));
      if (events.length === limit) break;
    }
    return position === undefined ? events : events.filter((event) => event.position === position);
  }

  async newest() {
    const response = await this.#asked({ after: Number.MAX_SAFE_INTEGER }, 'HEAD');
    response.body.resume();
    return lastIn(response);
  }

  pages(start: Start) {
    return this.#download(fromStart(start));
  }

  async *find({ from, to, after = 0, before, ...search }: Omit<SearchQuery, 'limit'>) {
    // A download that goes on later must not find what was recorded meanwhile.
    const end = Math.min(before ?? Infinity, (await this.newest()) + 1);
    for await (const page of this.#download({ ...search, after, before: end, from: timeText(from), to: timeText(to) }))
      yield* page;
  }

  readonly follow: ReadableLog['follow'] = (start, stop, changed) =>
    // An answer that was cut off is left at that: the service may have another log when it is back.
    ReadableLog.followed(this, start, stop, changed, (after) => this.#answer({ after, wait: this.wait }));

  /** Goes on after the last event if it is cut off. */
  async *#download(query: Query): AsyncGenerator<readonly StoredEvent[]> {
    let after: number | undefined = query.after;
    while (after !== undefined) after = yield* this.#answer({ ...query, after });
  }

  /** Reads one answer. If it was cut off, returns the last position that came, after a pause; throws if another try cannot help. */
  async *#answer(query: Query): AsyncGenerator<readonly StoredEvent[], number | undefined> {
    let { after } = query;
    const response = await this.#asked(query);
    try {
      for await (const page of eventsIn(response, after)) {
        yield page;
        after = page.at(-1)?.position ?? after;
      }
      return undefined;
    } catch (error) {
      this.stop.throwIfAborted();
      if (error instanceof RemoteLogError) throw error;
      if (error instanceof RangeError) throw new RemoteLogError('The service sent too long a line.');
      await this.#pause(1);
      return after;
    } finally {
      response.body.destroy();
    }
  }

  async #pause(tries: number): Promise<void> {
    await delay(pauseAfter(tries, LONGEST_PAUSE), undefined, { signal: this.stop }).catch(() => undefined);
    this.stop.throwIfAborted();
  }

  /** Asks until there is an answer with events; at first only once. */
  async #asked(query: Query, method: 'GET' | 'HEAD' = 'GET'): Promise<StreamedAnswer> {
    const { url } = this.source;
    for (let tries = 1; ; tries++) {
      try {
        const response = await this.#open(addressOf(url, query), method);
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
        if (tries > 1 && !this.#isMissing) {
          console.error(`${problem} Trying again until it answers.`);
          this.#isMissing = true;
        }
      }
      await this.#pause(tries);
    }
  }

  async #open(url: URL, method: 'GET' | 'HEAD'): Promise<StreamedAnswer> {
    const { key } = this.source;
    // The user and password of the address go as Authorization: they are those of a proxy.
    const isFree = url.username === '' && url.password === '';
    const field = key && (isFree ? { Authorization: `Bearer ${key}` } : { 'X-API-Key': key });
    const headers = { Accept: 'application/x-ndjson', 'Accept-Encoding': 'identity', ...field };
    const response = await this.#http.open(url, { method, headers }, this.stop, SILENCE);
    if (response.status !== 200 || !Number.isInteger(lastIn(response))) await refuse(response, url);
    return response;
  }
}

function fromStart({ after, since }: Start): Query {
  return { after, from: timeText(since) };
}

function timeText(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString();
}

function addressOf(url: URL, query: Query): URL {
  const address = new URL(url);
  address.search = 'events=export';
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) address.searchParams.set(name, String(value));
  return address;
}

/** The address in messages, without a user, a password and a query. */
function nameOf({ origin, pathname }: URL): string {
  return origin + pathname;
}

/** Throws for an answer that has no events: a {@link RemoteLogError} if no other try will bring some. */
async function refuse(response: StreamedAnswer, url: URL): Promise<never> {
  const { status, headers } = response;
  const isText = /^text\/plain/.test(headers['content-type'] ?? '');
  const said = isText ? (await wholeOf(response, MAX_REASON)).body.toString().trim() : '';
  response.body.destroy();
  const answer = `the answer was ${String(status)}${said === '' ? '' : ` (${oneLine(said)})`}`;
  if (isTemporary(status)) throw new Error(answer);
  if (status === 401)
    throw new RemoteLogError('The service refused the key: give a read key with --key-file or WEBHOOK_READ_KEY.');
  if (status === 403)
    throw new RemoteLogError('The service has no READ_KEYS, so only its own machine sees the events. Set READ_KEYS.');
  const { location } = headers;
  if (status >= 300 && status < 400 && location !== undefined && URL.canParse(location, url.href)) {
    const to = oneLine(nameOf(new URL(location, url)));
    throw new RemoteLogError(`${nameOf(url)} redirects (${String(status)}) to ${to}. Give that address with --from.`);
  }
  throw new RemoteLogError(
    `${answer}: that is not the address of such a service, or its pages of the events are off. It ends with /Services/WebHooks.asmx.`,
  );
}

function lastIn({ headers }: StreamedAnswer): number {
  return Number(headers['x-events-last']);
}

/**
 * Reads the events of an answer as they arrive, in pages that are never empty; every event comes after a position.
 *
 * @throws {RemoteLogError} a line is no event, or one that was not asked for.
 * @throws the answer was cut off. Behind a proxy it may look whole then, but for its last line, which has to be empty.
 */
async function* eventsIn(response: StreamedAnswer, after: number): AsyncGenerator<readonly StoredEvent[]> {
  let isWhole = false;
  for await (const lines of linesOf(response.body)) {
    const page: StoredEvent[] = [];
    for (const text of lines.map(String)) {
      isWhole = text === '\n';
      if (isWhole || !text.endsWith('\n')) continue;
      const event = eventIn(text);
      if (event.position <= after)
        throw new RemoteLogError('The service sent an event that was not asked for: it takes no notice of after.');
      after = event.position;
      page.push(event);
    }
    if (page.length > 0) yield page;
  }
  if (!isWhole) throw new Error('The answer was cut off.');
}

function eventIn(text: string): StoredEvent {
  try {
    const { event, position } = ArchiveLine.read(text);
    if (position === undefined) throw new Error('It has no sequence.');
    return { ...event, position };
  } catch (cause) {
    throw new RemoteLogError('The service sent a line that is not an event.', { cause });
  }
}
