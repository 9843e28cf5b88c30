import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { constants, createInflate } from 'node:zlib';
import { ArchiveLine } from '../events/archive-line';
import { LAST_POSITION } from '../events/position';
import type { StoredEvent } from '../events/stored-event';
import { LogReader, type EventQuery, type SearchQuery, type Start } from '../log/log-reader';
import { reasonOf } from '../util/reason';
import { linesOf } from './archive';
import { HttpClient } from './http-client';
import { quoted } from './terminal';

/** The log of a service elsewhere. */
interface RemoteSource {
  /** The address of its endpoint. */
  readonly url: URL;
  /** A read key of the service. */
  readonly key?: string | undefined;
  /** Authorities in PEM that are trusted besides those that Node knows. */
  readonly ca?: string | undefined;
}

/** How long a service may be silent, in milliseconds; while there are no events it sends an empty line every 2 s. */
const SILENCE = 15_000;

/** Pauses between two tries, in milliseconds: the first, and the longest. */
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 5000;

/** How long one answer may go on with new events, in seconds. */
const WAIT = 600;

/** About how many events are handed on at a time. */
const PAGE_EVENTS = 1000;

/** An answer after which the same request may succeed later. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** Thrown for an answer that no further try will change; the message is one line. */
class RemoteLogError extends Error {
  override readonly name = 'RemoteLogError';
}

/**
 * Reads the log of a service over HTTP, with `?events=export` of its events' pages. Once the service has answered, a connection
 * that ends is taken up again where it ended, for as long as it takes.
 */
export class RemoteLog extends LogReader {
  readonly #source: RemoteSource;
  readonly #http: HttpClient;
  readonly #stop: AbortSignal;
  #hasAnswered = false;
  /** Whether the line that the service does not answer has been printed. */
  #isMissing = false;

  /** @param stop - ends what is under way. */
  constructor(source: RemoteSource, stop: AbortSignal) {
    super();
    this.#source = source;
    this.#http = new HttpClient({ timeout: SILENCE, ca: source.ca }, 0);
    this.#stop = stop;
  }

  async scan({ after, limit, since }: Start & { readonly limit: number }) {
    const from = since === undefined ? undefined : new Date(since).toISOString();
    return this.#all({ after, from, limit });
  }

  async read({ id, position, limit }: EventQuery) {
    const found = position === undefined ? await this.#all({ id }) : await this.scan({ after: position - 1, limit: 1 });
    return found
      .filter((event) => position === undefined || event.position === position)
      .slice(0, limit)
      .map((event) => ({ ...event, dataOmitted: false }));
  }

  async search({ from, to, limit, ...query }: SearchQuery) {
    const time = (value: number | undefined) => (value === undefined ? undefined : new Date(value).toISOString());
    const found = await this.#all({ ...query, from: time(from), to: time(to), limit });
    const events = found.map(({ position, id, recordedAt }) => ({
      ...{ position, id, recordedAt },
      ...{ binding: undefined, type: undefined, remoteAddress: undefined, data: undefined },
    }));
    return { events: events.reverse(), reached: found.at(-1), more: found.length === limit };
  }

  async stats() {
    const response = await this.#asked({ after: LAST_POSITION }, 'HEAD');
    response.resume();
    return { events: 0, bytes: 0, last: lastIn(response) };
  }

  /** Tells nothing: {@link RemoteLog.stream} waits for events itself. */
  watch(): () => void {
    return () => undefined;
  }

  override async *stream(after: number, stop: AbortSignal): AsyncGenerator<readonly StoredEvent[]> {
    const response = await this.#asked({ after, wait: WAIT });
    const end = (): void => void response.destroy();
    stop.addEventListener('abort', end);
    try {
      yield* eventsIn(response);
    } catch (error) {
      if (error instanceof RemoteLogError) throw error;
      if (!stop.aborted) await this.#pause(FIRST_PAUSE);
    } finally {
      stop.removeEventListener('abort', end);
      response.destroy();
    }
  }

  /** All events of a download, which is asked for again if it is cut off. */
  async #all(parameters: Parameters): Promise<StoredEvent[]> {
    for (;;) {
      const response = await this.#asked(parameters);
      const events: StoredEvent[] = [];
      try {
        for await (const page of eventsIn(response)) events.push(...page);
        return events;
      } catch (error) {
        if (error instanceof RemoteLogError || this.#stop.aborted) throw error;
        await this.#pause(FIRST_PAUSE);
      }
    }
  }

  /** Waits before another try, unless it is stopped. */
  async #pause(milliseconds: number): Promise<void> {
    await delay(milliseconds, undefined, { signal: this.#stop }).catch(() => undefined);
    this.#stop.throwIfAborted();
  }

  /** Asks until there is an answer with events; at first only once. */
  async #asked(parameters: Parameters, method: 'GET' | 'HEAD' = 'GET'): Promise<IncomingMessage> {
    const url = addressOf(this.#source.url, parameters);
    let pause = FIRST_PAUSE;
    for (;;) {
      const { response, problem } = await this.#tried(url, method);
      if (response !== undefined) {
        if (this.#isMissing) console.error('The service answers again.');
        this.#isMissing = false;
        this.#hasAnswered = true;
        return response;
      }
      if (!this.#hasAnswered) throw new RemoteLogError(`${nameOf(this.#source.url)}: ${problem}.`);
      // A service that starts again is back after the first pause.
      if (pause > FIRST_PAUSE && !this.#isMissing) {
        console.error(`${nameOf(this.#source.url)}: ${problem}. Trying again until it answers.`);
        this.#isMissing = true;
      }
      await this.#pause(pause);
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    }
  }

  async #tried(url: URL, method: 'GET' | 'HEAD'): Promise<{ response?: IncomingMessage; problem: string }> {
    const { key } = this.#source;
    const headers = {
      Accept: 'application/x-ndjson',
      'Accept-Encoding': 'deflate',
      ...(key && { Authorization: `Bearer ${key}` }),
    };
    const connection = new AbortController();
    const late = setTimeout(() => {
      connection.abort();
    }, SILENCE);
    const signal = AbortSignal.any([connection.signal, this.#stop]);
    try {
      const response = await this.#http.open(url, { method, headers }, signal);
      const problem = await problemOf(response);
      if (problem !== undefined) return { problem };
      response.socket.setTimeout(SILENCE, () => response.destroy());
      return { response, problem: '' };
    } catch (error) {
      this.#stop.throwIfAborted();
      if (error instanceof RemoteLogError) throw error;
      const reason = connection.signal.aborted ? `no answer within ${String(SILENCE / 1000)} s` : reasonOf(error);
      return { problem: reason };
    } finally {
      clearTimeout(late);
    }
  }
}

type Parameters = Readonly<Record<string, string | number | undefined>>;

function addressOf(url: URL, parameters: Parameters): URL {
  const address = new URL(url);
  address.search = 'events=export';
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) address.searchParams.set(name, String(value));
  }
  return address;
}

/** The address in messages, without a user and a password. */
function nameOf({ origin, pathname }: URL): string {
  return origin + pathname;
}

/**
 * Says why an answer has no events, if another try may bring some.
 *
 * @throws {RemoteLogError} no other try will.
 */
async function problemOf(response: IncomingMessage): Promise<string | undefined> {
  const { statusCode = 0, headers } = response;
  const isDownload = headers['x-events-last'] !== undefined;
  if (statusCode === 200 && isDownload) return undefined;
  response.socket.setTimeout(SILENCE, () => response.destroy());
  const isText = /^text\/plain/.test(headers['content-type'] ?? '');
  const said = (await text(response).catch(() => '')).trim();
  const answer = `the answer was ${String(statusCode)}${isText && said !== '' ? ` (${quoted(said)})` : ''}`;
  if (TEMPORARY.has(statusCode)) return answer;
  if (statusCode === 401)
    throw new RemoteLogError('The service refused the key: give a read key with --key-file or WEBHOOK_READ_KEY.');
  if (statusCode === 403)
    throw new RemoteLogError(
      'The service has no READ_KEYS and shows its events to its own machine alone. Set READ_KEYS there.',
    );
  throw new RemoteLogError(
    `${answer}: that is not the address of such a service, or its pages of the events are off. It ends with /Services/WebHooks.asmx.`,
  );
}

function lastIn({ headers }: IncomingMessage): number {
  return Number(headers['x-events-last']);
}

/**
 * Reads the events of an answer as they arrive, in pages that are never empty.
 *
 * @throws {RemoteLogError} a line is no event.
 * @throws the answer was cut off. Behind a proxy it may look whole then, but for its last line, which has to be empty.
 */
async function* eventsIn(response: IncomingMessage): AsyncGenerator<readonly StoredEvent[]> {
  const body = bodyOf(response);
  let hasEnded = false;
  const bytes = async function* (): AsyncGenerator<Buffer> {
    yield* body as AsyncIterable<Buffer>;
    hasEnded = true;
  };
  let page: StoredEvent[] = [];
  let isWhole = false;
  for await (const line of linesOf(bytes())) {
    isWhole = line.length === 0;
    // It has no line feed.
    if (hasEnded) break;
    if (!isWhole) page.push(await eventIn(line.toString()));
    if (page.length < PAGE_EVENTS && body.readableLength > 0) continue;
    if (page.length > 0) yield page;
    page = [];
  }
  if (page.length > 0) yield page;
  if (!isWhole) throw new Error('The answer was cut off.');
}

/** The content of an answer, decoded. Ends without an error if the answer was cut off within its coding. */
function bodyOf(response: IncomingMessage): Readable {
  if (response.headers['content-encoding'] !== 'deflate') return response;
  const inflate = createInflate({ finishFlush: constants.Z_SYNC_FLUSH });
  pipeline(response, inflate, () => undefined);
  return inflate;
}

async function eventIn(text: string): Promise<StoredEvent> {
  try {
    const line = new ArchiveLine(text);
    const { position } = line;
    if (position !== undefined) return { ...(await line.event()), position };
  } catch (cause) {
    throw new RemoteLogError('The service sent a line that is no event.', { cause });
  }
  throw new RemoteLogError('The service sent an event without its sequence.');
}
