import { STATUS_CODES } from 'node:http';
import { join } from 'node:path';
import { Router } from 'express';
import { Caller } from '../../access/caller';
import { positionIn, StoredEvent } from '../../events/stored-event';
import type { HttpResponse } from '../../http/response';
import { HTTP_ERRORS, RequestError } from '../../http/errors';
import { letOthersRun } from '../../util/promises';
import { HTML, pageWriter, SECURITY_HEADERS } from '../page-writer';
import type { Endpoint } from '../../call/incoming-call';
import { comparisonView } from './comparison-view';
import { downloadHeaders, downloadOf, eventView, neighbours } from './event-view';
import { listQuery, parametersOf, type ListQuery } from './list-query';
import { Downloads, NO_STORE, ONE } from './downloads';
import { eventLink, listView } from './list-view';
import type { EndpointAddress } from './commands';
import { isRateSpan, rateView, refusedInLastHour } from './rate-view';
import { refusalsView } from './refusal-view';
import { eventsText } from './markup';

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
    const parameters = parametersOf(request.url);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead || (!parameters.has('events') && !parameters.has('event'))) next();
    else SECURITY_HEADERS(request, response, () => void pages.answer(response, parameters).catch(next));
  });
  return router;
}

function preparedPages({ contract }: Endpoint) {
  const page = pageWriter(contract, 'events', join(__dirname, 'templates'), ['style.css', 'events.css']);
  return {
    list: page('list', ['keys.js', 'times.js', 'live.js', 'copy.js']),
    event: page('event', ['keys.js', 'times.js', 'copy.js', 'data.js']),
    comparison: page('comparison', ['keys.js', 'times.js']),
    rate: page('rate'),
    refusals: page('refusals', ['times.js', 'live.js']),
    problem: page('problem'),
  };
}

class EventsPages {
  readonly #needsKey: boolean;
  readonly #pages: ReturnType<typeof preparedPages>;
  readonly #downloads: Downloads;
  #inProgress = 0;

  constructor(private readonly endpoint: Endpoint) {
    this.#needsKey = endpoint.access.rules.credentials.record.includes('key');
    this.#pages = preparedPages(endpoint);
    this.#downloads = new Downloads(endpoint.log);
  }

  /**
   * Answers with a page or a download, or with a page that says why not.
   *
   * @throws the same, once it is answered; not for an event that was forgotten, which is no refusal.
   */
  async answer(response: HttpResponse, parameters: URLSearchParams): Promise<void> {
    const { rate, access, admission } = this.endpoint;
    const check = () => {
      Caller.checkViewer(response.req, access);
    };
    try {
      rate.count(response.req);
      check();
      const ticket = admission.ticket(response);
      try {
        ticket.takeSlot();
        if (parameters.get('events') === 'export') await this.#downloads.send(response, parameters, ticket, check);
        else await this.#show(response, parameters);
      } finally {
        ticket.giveBack();
      }
    } catch (error) {
      if (!response.headersSent) await this.#refuse(response, error);
      if (response.statusCode !== 404) throw error;
    }
  }

  async #show(response: HttpResponse, parameters: URLSearchParams): Promise<void> {
    const { log, config, refusals } = this.endpoint;
    // A search may take long, and must leave most slots to calls.
    const most = Math.max(1, Math.floor(config.limits.maxInFlight / 4));
    if (this.#inProgress >= most) throw HTTP_ERRORS.pagesInFlight(most);
    this.#inProgress++;
    try {
      const event = parameters.get('event');
      const tab = parameters.get('events');
      if (event !== null) await this.#showEvent(response, event, parameters);
      else if (tab === 'find') await this.#find(response, parameters);
      else if (tab === 'rate') {
        const per = parameters.get('per') ?? 'minute';
        if (!isRateSpan(per)) throw HTTP_ERRORS.invalidInput('Events are counted per minute, hour or day.');
        await this.#send(response, 'rate', 'Rate', await rateView(log, per, Date.now(), await refusals()));
      } else if (tab === 'refusals') {
        const view = await refusalsView(await refusals(), parameters.get('reason') || undefined, Date.now());
        await this.#send(response, 'refusals', 'Refusals', view);
      } else await this.#showList(response, listQuery(parameters));
    } finally {
      this.#inProgress--;
    }
  }

  async #send(
    response: HttpResponse,
    page: keyof ReturnType<typeof preparedPages>,
    title: string,
    values: object,
    status = 200,
  ) {
    const { callers, path } = this.endpoint;
    const { body, headers } = this.#pages[page](title, callers.baseUrl(response.req) + path, values);
    const fields = { ...NO_STORE, ...headers };
    // Encoding a page of megabytes takes as long as writing it.
    await letOthersRun();
    if (status !== 200) response.reply(status, HTML, body, fields);
    else await response.replyCompressed(HTML, body, { ...fields, Vary: `${callers.vary}, Accept-Encoding` });
  }

  /** @param named - the events whose sequence or id is the number that is searched for. */
  async #showList(response: HttpResponse, query: ListQuery, named: readonly number[] = []): Promise<void> {
    const { log, refusals } = this.endpoint;
    const [stats, refused, list] = await Promise.all([
      log.stats(),
      refusedInLastHour(refusals()),
      listView(log, query, this.#address(response)),
    ]);
    const { problem } = query;
    const links = named.map((position) => eventLink(position, query.filter));
    const values = { ...list, named: links, count: eventsText(stats.events), refused, needsKey: this.#needsKey };
    await this.#send(response, 'list', 'Events', values, problem === undefined ? 200 : 400);
    if (problem !== undefined) throw HTTP_ERRORS.invalidInput(problem);
  }

  /** Leads to the event whose id or sequence was typed into the search box. A shorter number may be a text as well: its list has links. */
  async #find(response: HttpResponse, parameters: URLSearchParams): Promise<void> {
    const query = listQuery(parameters);
    const text = query.filter.text?.trim();
    if (query.problem !== undefined || text === undefined) return this.#showList(response, query);
    const { log } = this.endpoint;
    const position = positionIn(text);
    const at = position === undefined ? [] : await log.read({ after: position - 1, before: position + 1, ...ONE });
    const named = [...new Set([...at, ...(await log.read({ id: text, ...ONE }))].map((event) => event.position))];
    const [first] = named;
    if (first === undefined || /^\d{1,19}$/.test(text)) return this.#showList(response, query, named);
    const { href } = eventLink(first, query.filter);
    response.replyText(303, 'See the event.', { ...NO_STORE, Location: href });
  }

  async #showEvent(response: HttpResponse, text: string, parameters: URLSearchParams): Promise<void> {
    const id = parameters.get('id');
    const download = parameters.get('download');
    const other = parameters.get('with') || undefined;
    const { filter } = listQuery(parameters);
    if (download !== null)
      return this.endpoint.log.whole.run(async () => {
        const file = downloadOf(download, await this.#event(response, text, id));
        if (file === undefined) throw HTTP_ERRORS.invalidInput('The event has no such part.');
        response.reply(200, file.contentType, file.body, { ...NO_STORE, ...downloadHeaders(file.name) });
      });
    if (other !== undefined) {
      const view = await this.endpoint.log.whole.run(async () => {
        const after = await this.#event(response, other);
        return comparisonView(await this.#event(response, text, id), after, filter);
      });
      const title = `Events ${view.events.map(({ position }) => position).join(' and ')}`;
      return this.#send(response, 'comparison', title, view);
    }
    const view = await this.endpoint.log.whole.run(async () =>
      eventView(await this.#event(response, text, id), filter, this.#address(response)),
    );
    const around = await neighbours(this.endpoint.log, view.position, view.ofType, filter);
    await this.#send(response, 'event', `Event ${String(view.position)}`, { ...view, ...around });
  }

  /**
   * Reads the event with a position, or else the newest with an id, whatever its source.
   *
   * @throws {RequestError} 404: the log holds no such event, or its caller has gone while it waited.
   */
  async #event({ destroyed }: HttpResponse, text: string, id: string | null = text): Promise<StoredEvent> {
    const { log } = this.endpoint;
    if (destroyed) throw HTTP_ERRORS.noSuchEvent();
    const position = positionIn(text) ?? (id === null ? undefined : (await log.read({ id, ...ONE }))[0]?.position);
    const [event] = position === undefined ? [] : await log.scan({ position, limit: 1 });
    // Taking over a large event takes as long as parsing it.
    if (event !== undefined) await letOthersRun();
    if (event === undefined || StoredEvent.problemOf(event) !== undefined) throw HTTP_ERRORS.noSuchEvent();
    await letOthersRun();
    return event;
  }

  #address(response: HttpResponse): EndpointAddress {
    const { contract, callers, path } = this.endpoint;
    return { contract, base: callers.baseUrl(response.req), path, needsKey: this.#needsKey };
  }

  async #refuse(response: HttpResponse, error: unknown): Promise<void> {
    const { status, message: reason, headers = {} } = error instanceof RequestError ? error : HTTP_ERRORS.failed(error);
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) response.setHeader(name, value);
    }
    const title = status === 401 ? 'A key is needed' : (STATUS_CODES[status] ?? 'Failed');
    await this.#send(response, 'problem', title, { reason, needsKey: status === 401 }, status);
  }
}
