import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Router } from 'express';
import type { EventLog } from '../../log/event-log';
import type { RequestCheck } from '../../http/auth/access';
import { reply, replyCompressed } from '../../http/reply';
import type { RateLimit } from '../../http/rate-limit';
import { HTTP_ERRORS, RequestError } from '../../http/errors';
import type { ServerObserver } from '../../http/reception';
import { messageChain } from '../../util/text';
import type { RefusedCall } from '../../telemetry/refused-calls';
import type { Contract } from '../../contract/contract';
import { PageWriter, SECURITY_HEADERS } from '../page-writer';
import type { EndpointOptions } from '../../call/incoming-call';
import { downloadHeaders, downloadOf } from './downloads';
import { eventView, storedEvent } from './event-view';
import type { EndpointAddress } from './request-again';
import { BINDING_LABELS, filterValues, listQuery, position } from './list-query';
import { listView, newRows } from './list-view';
import { isRateSpan, rateView } from './rate-view';
import { refusalView } from './refusal-view';
import { countText } from './markup';

/** What the pages of the events show, and to whom. */
export interface EventsPagesParts {
  readonly log: EventLog;
  readonly mayLook: RequestCheck;
  /** The last refused and failed calls of all processes that answer together, newest first. */
  refusedCalls(this: void): Promise<readonly RefusedCall[]>;
  /** Hears of callers that may not look. */
  readonly refused: ServerObserver['refused'];
  /** Hears of a page that could not be shown. */
  failed(this: void, request: IncomingMessage, status: number, error: unknown): void;
}

/** What the pages need to know of the endpoint. */
export type EventsPagesOptions = Pick<EndpointOptions, 'path' | 'callers' | 'admission'> & {
  readonly rate: RateLimit | undefined;
  /** Whether whoever records an event needs a key. */
  readonly needsKey: boolean;
};

/** What is sent for a request. */
interface Answer {
  readonly page: Exclude<keyof Templates, 'rows'>;
  readonly title: string;
  readonly status?: number;
  readonly values: object;
}

type Templates = ReturnType<typeof loadTemplates>;

function loadTemplates(contract: Contract) {
  const writer = new PageWriter(contract, join(__dirname, 'templates'), ['style.css', 'events.css']);
  return {
    list: writer.page('list', ['keys.js', 'live.js'], { connects: true }),
    event: writer.page('event', ['keys.js', 'copy.js']),
    rate: writer.page('rate'),
    refusals: writer.page('refusals'),
    problem: writer.page('problem'),
    rows: (values: object) => writer.part('rows', values),
  };
}

const HTML = 'text/html; charset=utf-8';

/** What the pages show changes all the time, and is nobody else's business. */
const NO_STORE = { 'Cache-Control': 'no-store' };

/**
 * Serves the pages of the events over `GET` and `HEAD`: `?events` lists and searches them, `?events=rate` counts them,
 * `?events=refusals` shows what was refused, `?event=SEQUENCE` shows one. Other queries are left to whoever comes next.
 */
export function eventsPages(contract: Contract, options: EventsPagesOptions, parts: EventsPagesParts): Router {
  const templates = loadTemplates(contract);
  const slots = new PageSlots(Math.max(1, Math.floor(options.admission.maxInFlight / 4)));
  const router = Router({ strict: true });
  // Not `get`: Express would answer OPTIONS for it, and leave out the methods of whoever comes next.
  router.all(options.path, (request, response, next) => {
    const parameters = parametersOf(request.url);
    if (!LOOKS.has(request.method) || (!parameters.has('events') && !parameters.has('event'))) {
      next();
      return;
    }
    SECURITY_HEADERS(request, response, (error?: unknown) => {
      if (error === undefined)
        answer(new Viewing(request, response, contract, templates, options, parts), parameters, slots).catch(next);
      else next(error);
    });
  });
  return router;
}

const LOOKS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Names in any case, as of the other queries. */
function parametersOf(url: string): URLSearchParams {
  const query = new URLSearchParams(url.replace(/^[^?]*/, ''));
  return new URLSearchParams([...query].map(([name, value]): [string, string] => [name.toLowerCase(), value]));
}

/** Counts the pages that are being made. A search may take long, and must leave most slots of MAX_IN_FLIGHT to calls. */
class PageSlots {
  readonly #max: number;
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** @throws {RequestError} 503: too many pages are being made. */
  take(): void {
    if (this.#taken >= this.#max) throw HTTP_ERRORS.pagesInFlight(this.#max);
    this.#taken++;
  }

  giveBack(): void {
    this.#taken--;
  }
}

async function answer(viewing: Viewing, parameters: URLSearchParams, slots: PageSlots): Promise<void> {
  const { options, parts, request, response } = viewing;
  try {
    options.rate?.(request);
    parts.mayLook(request);
    slots.take();
    const ticket = options.admission.ticket(response);
    try {
      ticket.takeSlot();
      await viewing.show(parameters);
    } finally {
      ticket.giveBack();
      slots.giveBack();
    }
  } catch (error) {
    await viewing.refuse(error);
  }
}

/** One look at one page. */
class Viewing {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly options: EventsPagesOptions;
  readonly parts: EventsPagesParts;
  readonly #contract: Contract;
  readonly #templates: Templates;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    contract: Contract,
    templates: Templates,
    options: EventsPagesOptions,
    parts: EventsPagesParts,
  ) {
    this.request = request;
    this.response = response;
    this.options = options;
    this.parts = parts;
    this.#contract = contract;
    this.#templates = templates;
  }

  async show(parameters: URLSearchParams): Promise<void> {
    const event = parameters.get('event');
    if (event !== null) {
      await this.#showEvent(event, parameters);
      return;
    }
    const tab = parameters.get('events') ?? '';
    if (tab === 'rows') await this.#sendRows(parameters);
    else await this.#send(await this.#tab(tab, parameters));
  }

  #tab(tab: string, parameters: URLSearchParams): Promise<Answer> {
    if (tab === 'rate') return this.#rate(parameters.get('per') ?? 'minute');
    if (tab === 'refusals') return this.#refusals();
    return this.#list(parameters);
  }

  async #list(parameters: URLSearchParams): Promise<Answer> {
    const { log } = this.parts;
    const query = listQuery(parameters);
    const { filter, problem } = query;
    const [stats, list] = await Promise.all([log.stats(), problem === undefined ? listView(log, query) : EMPTY_LIST]);
    return {
      page: 'list',
      title: 'Events',
      status: problem === undefined ? 200 : 400,
      values: {
        tab: 'list',
        ...list,
        problem,
        count: countText(stats.events),
        bindings: BINDING_LABELS,
        filter: filterValues(filter),
        needsKey: this.options.needsKey,
      },
    };
  }

  async #sendRows(parameters: URLSearchParams): Promise<void> {
    const { log } = this.parts;
    const { filter, place, problem } = listQuery(parameters);
    if (problem !== undefined) throw HTTP_ERRORS.invalidInput(problem);
    const { rows, after } = await newRows(log, filter, place.after ?? 0n);
    const html = this.#templates.rows({ rows });
    const headers = { 'X-Events-After': String(after), 'X-Events-Count': countText((await log.stats()).events) };
    await replyCompressed(this.request, this.response, HTML, html, { ...NO_STORE, ...headers });
  }

  async #rate(per: string): Promise<Answer> {
    if (!isRateSpan(per)) throw HTTP_ERRORS.noSuchRate();
    return {
      page: 'rate',
      title: 'Rate',
      values: { tab: 'rate', ...(await rateView(this.parts.log, per, Date.now())) },
    };
  }

  async #refusals(): Promise<Answer> {
    const calls = await this.parts.refusedCalls();
    return { page: 'refusals', title: 'Refusals', values: { tab: 'refusals', calls: calls.map(refusalView) } };
  }

  async #showEvent(text: string, parameters: URLSearchParams): Promise<void> {
    const { log } = this.parts;
    const sequence = position(text);
    const event = sequence === undefined ? undefined : await storedEvent(log, sequence);
    if (event === undefined) {
      throw HTTP_ERRORS.noSuchEvent();
    }
    const download = parameters.get('download');
    if (download === null) {
      const view = await eventView(log, event, listQuery(parameters).filter, this.#address());
      await this.#send({ page: 'event', title: `Event ${view.sequence}`, values: view });
      return;
    }
    const file = downloadOf(download, event, this.#address());
    if (file === undefined) throw HTTP_ERRORS.noSuchPart();
    reply(this.response, 200, file.contentType, file.body, { ...NO_STORE, ...downloadHeaders(file) });
  }

  #address(): EndpointAddress {
    const { callers, path, needsKey } = this.options;
    return { contract: this.#contract, base: callers.baseUrl(this.request), path, needsKey };
  }

  /** Says why nothing is shown, on a page. */
  async refuse(error: unknown): Promise<void> {
    const { parts, request, response } = this;
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const isRefusal = error instanceof RequestError;
    const status = isRefusal ? error.status : 500;
    const reason = isRefusal ? error.message : messageChain(error);
    // An event that is gone is nothing that was refused.
    if (isRefusal && status !== 404) {
      const { remoteAddress } = request.socket;
      parts.refused({ refusal: error.refusal, reason, status, remoteAddress, request });
    } else if (!isRefusal) parts.failed(request, status, error);
    for (const [name, value] of Object.entries(isRefusal ? (error.headers ?? {}) : {})) {
      if (value !== undefined) response.setHeader(name, value);
    }
    const title =
      status === 404 ? 'Not found' : status === 401 ? 'A key is needed' : (STATUS_CODES[status] ?? 'Failed');
    await this.#send({ page: 'problem', title, status, values: { reason } });
  }

  async #send({ page, title, status = 200, values }: Answer): Promise<void> {
    const { callers, path } = this.options;
    const { request, response } = this;
    const endpointUrl = callers.baseUrl(request) + path;
    const { html, headers } = this.#templates[page](title, endpointUrl, { heading: title, ...values });
    const fields = { ...NO_STORE, ...headers };
    if (status === 200) {
      await replyCompressed(request, response, HTML, html, { ...fields, Vary: `${callers.vary}, Accept-Encoding` });
    } else reply(response, status, HTML, html, fields);
  }
}

/** What is listed of an address that cannot be used. */
const EMPTY_LIST = { rows: [], isNarrowed: true };
