import { pipeline, type Readable } from 'node:stream';
import { constants, createInflate } from 'node:zlib';
import { ArchiveLine } from '../../events/archive-line';
import type { StoredEvent } from '../../events/stored-event';
import type { StreamedAnswer } from '../http-client';
import { linesOf, quoted } from '../terminal';

/** Characters of an answer without events that are read. */
const MAX_REASON = 1000;

/** An answer after which the same request may succeed later. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** Thrown for an answer that no further try will change; the message is one line. */
export class RemoteLogError extends Error {
  override readonly name = 'RemoteLogError';
}

/** The address in messages, without a user, a password and a query. */
export function nameOf({ origin, pathname }: URL): string {
  return origin + pathname;
}

/** Throws for an answer that has no events: a {@link RemoteLogError} if no other try will bring some. */
export async function refuse(response: StreamedAnswer, url: URL): Promise<void> {
  const { status, headers, body } = response;
  if (status === 200 && Number.isInteger(lastIn(response))) return;
  const isText = /^text\/plain/.test(headers['content-type'] ?? '');
  const said = isText ? await startOf(body) : '';
  body.destroy();
  const answer = `the answer was ${String(status)}${said === '' ? '' : ` (${quoted(said)})`}`;
  if (TEMPORARY.has(status)) throw new Error(answer);
  if (status === 401)
    throw new RemoteLogError('The service refused the key: give a read key with --key-file or WEBHOOK_READ_KEY.');
  if (status === 403)
    throw new RemoteLogError(
      'The service has no READ_KEYS and shows its events to its own machine alone. Set READ_KEYS there.',
    );
  const { location } = headers;
  if (status >= 300 && status < 400 && location !== undefined && URL.canParse(location, url.href)) {
    const to = quoted(nameOf(new URL(location, url)));
    throw new RemoteLogError(`${nameOf(url)} redirects (${String(status)}) to ${to}. Give that address with --from.`);
  }
  throw new RemoteLogError(
    `${answer}: that is not the address of such a service, or its pages of the events are off. It ends with /Services/WebHooks.asmx.`,
  );
}

async function startOf(body: Readable): Promise<string> {
  let text = '';
  try {
    for await (const chunk of body.setEncoding('utf8') as AsyncIterable<string>) {
      text += chunk.slice(0, MAX_REASON);
      if (text.length >= MAX_REASON) break;
    }
  } catch {
    // The part that came says enough.
  }
  return text.trim();
}

export function lastIn({ headers }: StreamedAnswer): number {
  return Number(headers['x-events-last']);
}

/**
 * Reads the events of an answer as they arrive, in pages that are never empty; every event comes after a position.
 *
 * @throws {RemoteLogError} a line is no event, or one that was not asked for.
 * @throws the answer was cut off. Behind a proxy it may look whole then, but for its last line, which has to be empty.
 */
export async function* eventsIn(response: StreamedAnswer, after: number): AsyncGenerator<readonly StoredEvent[]> {
  let isWhole = false;
  for await (const lines of linesOf(bodyOf(response))) {
    const page: StoredEvent[] = [];
    for (const text of lines.map(String)) {
      isWhole = text === '\n';
      if (isWhole || !text.endsWith('\n')) continue;
      const event = eventIn(text);
      if (event.position <= after) throw notAsked('after');
      after = event.position;
      page.push(event);
    }
    if (page.length > 0) yield page;
  }
  if (!isWhole) throw new Error('The answer was cut off.');
}

/** The content of an answer, decoded. Ends without an error if the answer was cut off within its coding. */
function bodyOf({ headers, body }: StreamedAnswer): Readable {
  if (headers['content-encoding'] !== 'deflate') return body;
  const inflate = createInflate({ finishFlush: constants.Z_SYNC_FLUSH });
  pipeline(body, inflate, () => undefined);
  return inflate;
}

function eventIn(text: string): StoredEvent {
  try {
    const line = new ArchiveLine(text);
    const { position } = line;
    if (position === undefined) throw new Error('It has no sequence.');
    return { ...line.event(), position };
  } catch (cause) {
    throw new RemoteLogError('The service sent a line that is not an event.', { cause });
  }
}

export function notAsked(parameter: string): RemoteLogError {
  return new RemoteLogError(`The service sent an event that was not asked for: it takes no notice of ${parameter}.`);
}
