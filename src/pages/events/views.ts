import { join } from 'node:path';
import type { Endpoint } from '../../call/endpoint';
import type { HttpResponse } from '../../http/response';
import { letOthersRun } from '../../util/promises';
import { HTML, PageWriter, type WritePage } from '../page-writer';
import type { ComparisonView } from './comparison-view';
import type { EventView, Neighbours } from './event-view';
import type { eventLink, ListView, newRows } from './list-view';
import type { RateView } from './rate-view';
import type { RefusalsView } from './refusal-view';

/** Events change all the time and are private. */
export const NO_STORE = { 'Cache-Control': 'no-store' };

/** The values of each template. */
type EventsTemplates = {
  readonly list: ListView & {
    /** The events whose id or sequence was searched for. */
    readonly named: readonly ReturnType<typeof eventLink>[];
    /** How many events the log has. */
    readonly count: string;
    /** How many calls were refused in the last hour, if any. */
    readonly refused: string | undefined;
    /** Whether recording needs a key. */
    readonly needsKey: boolean;
  };
  readonly event: EventView & Neighbours;
  readonly comparison: ComparisonView;
  readonly rate: RateView;
  readonly refusals: RefusalsView;
  readonly problem: { readonly reason: string; readonly needsKey: boolean };
  readonly rows: Awaited<ReturnType<typeof newRows>>;
  readonly 'refused-rows': RefusalsView;
};

/** The templates of the rows that the script of an open list asks for. */
type Rows = 'rows' | 'refused-rows';

type PageName = Exclude<keyof EventsTemplates, Rows>;

/** Writes the pages of the events from their templates, and sends them. */
export class EventsViews {
  readonly #writer: PageWriter<EventsTemplates>;
  readonly #pages: { readonly [Name in PageName]: WritePage<EventsTemplates[Name]> };
  readonly #endpoint: Endpoint;

  constructor(endpoint: Endpoint) {
    const { contract } = endpoint;
    this.#writer = new PageWriter(contract, 'events', join(__dirname, 'templates'), ['style.css', 'events.css']);
    this.#pages = {
      list: this.#writer.page('list', ['keys.js', 'times.js', 'live.js', 'search.js', 'copy.js'], { connects: true }),
      event: this.#writer.page('event', ['keys.js', 'times.js', 'copy.js', 'data.js']),
      comparison: this.#writer.page('comparison', ['keys.js', 'times.js']),
      rate: this.#writer.page('rate'),
      refusals: this.#writer.page('refusals', ['times.js', 'live.js'], { connects: true }),
      problem: this.#writer.page('problem'),
    };
    this.#endpoint = endpoint;
  }

  /** Sends a page. */
  async send<Name extends PageName>(
    response: HttpResponse,
    page: Name,
    title: string,
    values: EventsTemplates[Name],
    status = 200,
  ): Promise<void> {
    const { callers, path } = this.#endpoint;
    const { body, headers } = this.#pages[page](title, callers.baseUrl(response.req) + path, values);
    const fields = { ...NO_STORE, ...headers };
    // A page of megabytes takes as long to encode as to write.
    await letOthersRun();
    if (status !== 200) response.reply(status, HTML, body, fields);
    else await response.replyCompressed(HTML, body, { ...fields, Vary: `${callers.vary}, Accept-Encoding` });
  }

  /**
   * Sends rows to the script of a list that is open.
   *
   * @param after - the position or time to send with the next request.
   * @param count - the number that the page shows above the list.
   */
  async sendRows<Name extends Rows>(
    response: HttpResponse,
    template: Name,
    values: EventsTemplates[Name],
    after: number,
    count: string,
  ): Promise<void> {
    const headers = { ...NO_STORE, 'X-Events-After': String(after), 'X-Events-Count': count };
    await response.replyCompressed(HTML, this.#writer.part(template, values), headers);
  }
}
