import { STATUS_CODES, type OutgoingHttpHeaders } from 'node:http';
import { Router } from 'express';
import { Caller } from '../../access/caller';
import { positionIn, StoredEvent } from '../../events/stored-event';
import type { HttpResponse } from '../../http/response';
import { HTTP_ERRORS, RequestError } from '../../http/errors';
import { letOthersRun } from '../../util/promises';
import { parametersOf, SECURITY_HEADERS } from '../page-request';
import { pageWriter } from '../page-writer';
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
  const { log, config, contract, path, proxies, rate, access, admission, refusals } = endpoint;
  const page = pageWriter(contract, 'events', ['style.css', 'events.css']);
  const pages = {
    list: page('list', ['keys.js', 'times.js', 'live.js', 'copy.js']),
    event: page('event', ['keys.js', 'times.js', 'copy.js', 'data.js']),
    comparison: page('comparison', ['keys.js', 'times.js']),
    rate: page('rate'),
    refusals: page('refusals', ['times.js', 'live.js']),
    problem: page('problem'),
  };
  const downloads = new Downloads(log);
  // A search may take long, and must leave most slots to calls.
  const most = Math.max(1, Math.floor(config.limits.maxInFlight / 4));
  let inProgress = 0;

  const router = Router({ strict: true });
  // Not `get`: Express would answer OPTIONS itself, without the methods of the handlers that follow.
  router.all(path, (request, response, next) => {
    const parameters = parametersOf(request.queryString);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead || (!parameters.has('events') && !parameters.has('event'))) next();
    else SECURITY_HEADERS(request, response, () => void answer(response, parameters).catch(next));
  });
  return router;

  /**
   * Answers with a page or a download, or with a page that says why not.
   *
   * @throws the refusal, after it was answered, so that it is logged and counted; not 404.
   */
  async function answer(response: HttpResponse, parameters: URLSearchParams): Promise<void> {
    const check = () => Caller.checkViewer(response.req, access);
    const ticket = admission.ticket(response);
    try {
      rate.count(response.req);
      check();
      ticket.takeSlot();
      if (parameters.get('events') === 'export') await downloads.send(response, parameters, ticket, check);
      else await show(response, parameters);
    } catch (error) {
      if (!response.headersSent) await refuse(response, error);
      if (response.statusCode !== 404) throw error;
    } finally {
      ticket.giveBack();
    }
  }

  async function show(response: HttpResponse, parameters: URLSearchParams): Promise<void> {
    if (inProgress >= most) throw HTTP_ERRORS.pagesInFlight(most);
    inProgress++;
    try {
      const event = parameters.get('event');
      const tab = parameters.get('events');
      if (event !== null) await showEvent(response, event, parameters);
      else if (tab === 'find') await find(response, parameters);
      else if (tab === 'rate')
        await send(response, 'rate', 'Rate', await rateView(log, parameters.get('per') ?? 'minute', await refusals()));
      else if (tab === 'refusals')
        await send(response, 'refusals', 'Refusals', await refusalsView(await refusals(), parameters.get('reason')));
      else await showList(response, listQuery(parameters));
    } finally {
      inProgress--;
    }
  }

  async function send(
    response: HttpResponse,
    name: keyof typeof pages,
    title: string,
    values: object,
    status = 200,
    more?: OutgoingHttpHeaders,
  ): Promise<void> {
    const { contentType, body, headers } = pages[name](title, proxies.baseUrl(response.req) + path, values);
    const fields = { ...NO_STORE, ...headers, ...more };
    // Encoding a page of megabytes takes as long as writing it.
    await letOthersRun();
    if (status !== 200) response.reply(status, contentType, body, fields);
    else await response.replyCompressed(contentType, body, { ...fields, Vary: `${proxies.vary}, Accept-Encoding` });
  }

  /** @param named - the events whose sequence or id is the number that is searched for. */
  async function showList(response: HttpResponse, query: ListQuery, named: readonly number[] = []): Promise<void> {
    const { filter, problem } = query;
    const address = addressOf(response);
    const [stats, refused, list] = await Promise.all([
      log.stats(),
      refusedInLastHour(refusals()),
      listView(log, query, address),
    ]);
    const values = {
      ...list,
      named: named.map((position) => eventLink(position, filter)),
      count: countText(stats.events, 'event'),
      refused,
      needsKey: address.needsKey,
    };
    await send(response, 'list', 'Events', values, problem === undefined ? 200 : 400);
    if (problem !== undefined) throw HTTP_ERRORS.invalidInput(problem);
  }

  /** Leads to the event whose id or sequence was typed into the search box. A shorter number may be a text as well: its list has links. */
  async function find(response: HttpResponse, parameters: URLSearchParams): Promise<void> {
    const query = listQuery(parameters);
    const text = query.filter.text?.trim();
    if (query.problem !== undefined || text === undefined) return showList(response, query);
    const position = positionIn(text);
    const at = position === undefined ? [] : await log.read({ position, ...POSITION_ONLY });
    const withId = await log.read({ id: text, ...POSITION_ONLY });
    const named = [...new Set([...at, ...withId].map((event) => event.position))];
    const [first] = named;
    if (first === undefined || /^\d{1,19}$/.test(text)) return showList(response, query, named);
    const { href } = eventLink(first, query.filter);
    response.replyText(303, 'See the event.', { ...NO_STORE, Location: href });
  }

  async function showEvent(response: HttpResponse, text: string, parameters: URLSearchParams): Promise<void> {
    const event = () => readEvent(response, text, parameters.get('id'));
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
        const after = await readEvent(response, other);
        return comparisonView(await event(), after, filter);
      });
      const title = `Events ${view.events.map(({ position }) => position).join(' and ')}`;
      return send(response, 'comparison', title, view);
    }
    const view = await log.wholeEventReads.run(async () => eventView(await event(), filter, addressOf(response)));
    const around = await neighbourLinks(log, view.position, view.ofType, filter);
    await send(response, 'event', `Event ${String(view.position)}`, { ...view, ...around });
  }

  /**
   * Reads the event with a position, or else the newest with an id, whatever its source.
   *
   * @throws {RequestError} 404: the log holds no such event, or its caller has gone while it waited.
   */
  async function readEvent({ destroyed }: HttpResponse, text: string, id: string | null = text): Promise<StoredEvent> {
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

  function addressOf(response: HttpResponse): EndpointAddress {
    const needsKey = access.rules.credentials.record.includes('key');
    return { contract, base: proxies.baseUrl(response.req), path, needsKey };
  }

  async function refuse(response: HttpResponse, error: unknown): Promise<void> {
    const refusal = error instanceof RequestError ? error : HTTP_ERRORS.failed(error);
    const { status, message: reason, headers } = refusal;
    const title = status === 401 ? 'A key is needed' : (STATUS_CODES[status] ?? 'Failed');
    try {
      await send(response, 'problem', title, { reason, needsKey: status === 401 }, status, headers);
    } catch {
      // A proxy stated a wrong address, without which there is no page.
      response.replyError(refusal);
    }
  }
}
