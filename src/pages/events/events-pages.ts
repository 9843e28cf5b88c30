import { STATUS_CODES } from 'node:http';
import { Router } from 'express';
import { Caller } from '../../access/caller';
import { positionIn, StoredEvent } from '../../events/stored-event';
import type { HttpResponse } from '../../http/response';
import { HTTP_ERRORS, RequestError } from '../../http/errors';
import { letOthersRun } from '../../util/promises';
import { parametersOf, SECURITY_HEADERS } from '../page-request';
import { pageWriter } from '../page-writer';
import type { EventLog } from '../../log/event-log';
import type { Endpoint } from '../../call/incoming-call';
import { comparisonView } from './comparison-view';
import { downloadOf, eventView, neighbourLinks } from './event-view';
import { eventLink, listQuery, type ListQuery } from './list-query';
import { downloadHeaders, Downloads, NO_STORE, POSITION_ONLY } from './downloads';
import { listView } from './list-view';
import type { EndpointAddress } from './commands';
import { rateView, refusedInLastHour } from './rate-view';
import { refusalsView } from './refusal-view';
import { countText } from './markup';

/**
 * Serves the pages of the events over `GET` and `HEAD`: `?events` lists and searches them, `?events=rate` counts them,
 * `?events=refusals` shows refused calls, `?events=export` gives events to programs, `?event=SEQUENCE` or `?event&id=ID` shows one
 * event, `?event=SEQUENCE&with=SEQUENCE` compares two. Leaves other queries to the next handler.
 */
export function eventsPages(endpoint: Endpoint): Router {
  const pages = new EventsPages(endpoint);
  const router = Router({ strict: true });
  // Not `get`: Express would answer OPTIONS itself, without the methods of the handlers that follow.
  router.all(endpoint.path, (request, response, next) => {
    const parameters = parametersOf(request.queryString);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead || (!parameters.has('events') && !parameters.has('event'))) next();
    else SECURITY_HEADERS(request, response, () => void pages.answer(response, parameters).catch(next));
  });
  return router;
}

class EventsPages {
  private readonly pages;
  readonly #downloads: Downloads;
  /** How many pages may be in progress: a search may take long, and must leave most slots to calls. */
  readonly #most: number;
  #inProgress = 0;

  constructor(private readonly endpoint: Endpoint) {
    const page = pageWriter(endpoint.contract, 'events', ['style.css', 'events.css']);
    this.pages = {
      list: page('list', ['keys.js', 'times.js', 'live.js', 'copy.js']),
      event: page('event', ['keys.js', 'times.js', 'copy.js', 'data.js']),
      comparison: page('comparison', ['keys.js', 'times.js']),
      rate: page('rate'),
      refusals: page('refusals', ['times.js', 'live.js']),
      problem: page('problem'),
    };
    this.#downloads = new Downloads(endpoint.log);
    this.#most = Math.max(1, Math.floor(endpoint.config.limits.maxInFlight / 4));
  }

  /**
   * Answers with a page or a download, or with a page that says why not.
   *
   * @throws the refusal, after it was answered, so that it is logged and counted; not 404.
   */
  async answer(response: HttpResponse, parameters: URLSearchParams): Promise<void> {
    const { access, admission, rate } = this.endpoint;
    const check = () => Caller.checkViewer(response.req, access);
    const ticket = admission.ticket(response);
    try {
      rate.count(response.req);
      check();
      ticket.takeSlot();
      if (parameters.get('events') === 'export') await this.#downloads.send(response, parameters, ticket, check);
      else await this.#show(response, parameters);
    } catch (error) {
      if (!response.headersSent) await this.#refuse(response, error);
      if (response.statusCode !== 404) throw error;
    } finally {
      ticket.giveBack();
    }
  }

  async #show(response: HttpResponse, parameters: URLSearchParams): Promise<void> {
    if (this.#inProgress >= this.#most) throw HTTP_ERRORS.pagesInFlight(this.#most);
    this.#inProgress++;
    try {
      const { log, refusals } = this.endpoint;
      const [event, tab] = [parameters.get('event'), parameters.get('events')];
      const [per, reason] = [parameters.get('per') ?? 'minute', parameters.get('reason')];
      if (event !== null) await this.#showEvent(response, event, parameters);
      else if (tab === 'find') await this.#find(response, parameters);
      else if (tab === 'rate') await this.#send(response, 'rate', 'Rate', await rateView(log, per, await refusals()));
      else if (tab === 'refusals')
        await this.#send(response, 'refusals', 'Refusals', await refusalsView(await refusals(), reason));
      else await this.#showList(response, listQuery(parameters));
    } finally {
      this.#inProgress--;
    }
  }

  /** @param named - the events whose sequence or id is the number that is searched for. */
  async #showList(response: HttpResponse, query: ListQuery, named: readonly number[] = []): Promise<void> {
    const { log, refusals } = this.endpoint;
    const { filter, problem } = query;
    const address = this.#addressOf(response);
    const [stats, refused, list] = await Promise.all([
      log.stats(),
      refusedInLastHour(refusals()),
      listView(log, query, address),
    ]);
    const links = named.map((position) => eventLink(position, filter));
    const count = countText(stats.events, 'event');
    const view = { ...list, named: links, count, refused, needsKey: address.needsKey };
    const refusal = problem === undefined ? undefined : HTTP_ERRORS.invalidInput(problem);
    await this.#send(response, 'list', 'Events', view, refusal);
    if (refusal !== undefined) throw refusal;
  }

  /** Leads to the event whose id or sequence was typed into the search box. A shorter number may be a text as well: its list has links. */
  async #find(response: HttpResponse, parameters: URLSearchParams): Promise<void> {
    const { log } = this.endpoint;
    const query = listQuery(parameters);
    const text = query.filter.text?.trim();
    if (query.problem !== undefined || text === undefined) return this.#showList(response, query);
    const position = positionIn(text);
    const at = position === undefined ? [] : await log.read({ position, ...POSITION_ONLY });
    const withId = await log.read({ id: text, ...POSITION_ONLY });
    const named = [...new Set([...at, ...withId].map((event) => event.position))];
    if (named[0] === undefined || /^\d{1,19}$/.test(text)) return this.#showList(response, query, named);
    response.replyText(303, 'See the event.', { ...NO_STORE, Location: eventLink(named[0], query.filter).href });
  }

  async #showEvent(response: HttpResponse, text: string, parameters: URLSearchParams): Promise<void> {
    const { log } = this.endpoint;
    const event = () => readEvent(log, response, text, parameters.get('id'));
    const download = parameters.get('download');
    const other = parameters.get('with') || undefined;
    const { filter } = listQuery(parameters);
    if (download !== null)
      return log.wholeEventReads.run(async () => {
        const file = downloadOf(download, await event());
        if (file === undefined) throw HTTP_ERRORS.invalidInput('The event has no such part.');
        response.reply(200, file.contentType, file.body, { ...NO_STORE, ...downloadHeaders(file.name) });
      });
    if (other !== undefined) {
      const view = await log.wholeEventReads.run(async () => {
        const after = await readEvent(log, response, other, other);
        return comparisonView(await event(), after, filter);
      });
      const title = `Events ${view.events.map(({ position }) => position).join(' and ')}`;
      return this.#send(response, 'comparison', title, view);
    }
    const view = await log.wholeEventReads.run(async () => eventView(await event(), filter, this.#addressOf(response)));
    const around = await neighbourLinks(log, view.position, view.ofType, filter);
    await this.#send(response, 'event', `Event ${String(view.position)}`, { ...view, ...around });
  }

  #addressOf({ req }: HttpResponse): EndpointAddress {
    const { access, contract, path, proxies } = this.endpoint;
    const needsKey = access.rules.credentials.record.includes('key');
    return { contract, base: proxies.baseUrl(req), path, needsKey };
  }

  async #refuse(response: HttpResponse, error: unknown): Promise<void> {
    const refusal = error instanceof RequestError ? error : HTTP_ERRORS.failed(error);
    const needsKey = refusal.status === 401;
    const title = needsKey ? 'A key is needed' : (STATUS_CODES[refusal.status] ?? 'Failed');
    try {
      await this.#send(response, 'problem', title, { reason: refusal.message, needsKey }, refusal);
    } catch {
      // A proxy stated a wrong address, without which there is no page.
      response.replyError(refusal);
    }
  }

  async #send(
    response: HttpResponse,
    name: keyof EventsPages['pages'],
    title: string,
    view: object,
    refusal?: RequestError,
  ) {
    const { path, proxies } = this.endpoint;
    const { contentType, body, headers } = this.pages[name](title, proxies.baseUrl(response.req) + path, view);
    const fields = { ...NO_STORE, ...headers, ...refusal?.headers };
    // Encoding a page of megabytes takes as long as writing it.
    await letOthersRun();
    if (refusal !== undefined) response.reply(refusal.status, contentType, body, fields);
    else await response.replyCompressed(contentType, body, { ...fields, Vary: `${proxies.vary}, Accept-Encoding` });
  }
}

/**
 * Reads the event with a position, or else the newest with an id, whatever its source.
 *
 * @throws {RequestError} 404: the log holds no such event, or its caller has gone while it waited.
 */
async function readEvent(log: EventLog, { destroyed }: HttpResponse, text: string, id: string | null) {
  if (destroyed) throw HTTP_ERRORS.noSuchEvent();
  const position =
    positionIn(text) ?? (id === null ? undefined : (await log.read({ id, ...POSITION_ONLY }))[0]?.position);
  const [event] = position === undefined ? [] : await log.scan({ position, limit: 1 });
  // Taking over a large event takes as long as parsing it.
  if (event !== undefined) await letOthersRun();
  if (event === undefined || StoredEvent.problemOf(event) !== undefined) throw HTTP_ERRORS.noSuchEvent();
  await letOthersRun();
  return event;
}
