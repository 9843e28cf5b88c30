import { join } from 'node:path';
import type { ServerResponse } from 'node:http';
import type { EndpointOptions } from '../../call/pipeline';
import type { Contract } from '../../contract/contract';
import { reply, replyCompressed } from '../../http/reply';
import { HTML, PageWriter, type WritePage } from '../page-writer';

/** Events change all the time and are private. */
export const NO_STORE = { 'Cache-Control': 'no-store' };

type PageName = 'list' | 'event' | 'rate' | 'refusals' | 'problem';

/** Writes the pages of the events from their templates, and sends them. */
export class EventsViews {
  readonly #writer: PageWriter;
  readonly #pages: Readonly<Record<PageName, WritePage>>;
  readonly #endpoint: Pick<EndpointOptions, 'path' | 'callers'>;

  constructor(contract: Contract, endpoint: Pick<EndpointOptions, 'path' | 'callers'>) {
    const writer = new PageWriter(contract, 'events', join(__dirname, 'templates'), ['style.css', 'events.css']);
    this.#writer = writer;
    this.#pages = {
      list: writer.page('list', ['keys.js', 'times.js', 'live.js', 'copy.js'], { connects: true }),
      event: writer.page('event', ['keys.js', 'times.js', 'copy.js']),
      rate: writer.page('rate'),
      refusals: writer.page('refusals', ['times.js', 'live.js'], { connects: true }),
      problem: writer.page('problem'),
    };
    this.#endpoint = endpoint;
  }

  /** Sends a page. */
  async send(response: ServerResponse, page: PageName, title: string, values: object, status = 200): Promise<void> {
    const { callers, path } = this.#endpoint;
    const { req: request } = response;
    const url = callers.baseUrl(request) + path;
    const { body, headers } = this.#pages[page](title, url, { heading: title, ...values });
    const fields = { ...NO_STORE, ...headers };
    if (status === 200) {
      await replyCompressed(request, response, HTML, body, { ...fields, Vary: `${callers.vary}, Accept-Encoding` });
    } else reply(response, status, HTML, body, fields);
  }

  /**
   * Sends rows to the script of a list that is open.
   *
   * @param after - where the next ones follow.
   * @param count - how many there are in all.
   */
  async sendRows(
    response: ServerResponse,
    template: 'rows' | 'refused-rows',
    values: object,
    after: bigint | number,
    count: string,
  ): Promise<void> {
    const headers = { ...NO_STORE, 'X-Events-After': String(after), 'X-Events-Count': count };
    await replyCompressed(response.req, response, HTML, this.#writer.part(template, values), headers);
  }
}
