import { join } from 'node:path';
import type { ServerResponse } from 'node:http';
import type { EndpointOptions } from '../../call/pipeline';
import type { Contract } from '../../contract/contract';
import { reply, replyCompressed } from '../../http/reply';
import { PageWriter } from '../page-writer';

/** Events change all the time and are private. */
export const NO_STORE = { 'Cache-Control': 'no-store' };

const HTML = 'text/html; charset=utf-8';

type Templates = ReturnType<typeof loadTemplates>;

function loadTemplates(contract: Contract) {
  const writer = new PageWriter(contract, 'events', join(__dirname, 'templates'), ['style.css', 'events.css']);
  return {
    list: writer.page('list', ['keys.js', 'times.js', 'live.js', 'copy.js'], { connects: true }),
    event: writer.page('event', ['keys.js', 'times.js', 'copy.js']),
    rate: writer.page('rate'),
    refusals: writer.page('refusals', ['times.js', 'live.js'], { connects: true }),
    problem: writer.page('problem'),
    rows: (values: object) => writer.part('rows', values),
    refusedRows: (values: object) => writer.part('refused-rows', values),
  };
}

/** A template with its values. */
export interface View {
  readonly page: Exclude<keyof Templates, 'rows' | 'refusedRows'>;
  readonly title: string;
  readonly status?: number;
  readonly values: object;
}

/** The rows that a list has not shown yet. */
export interface NewRows {
  readonly template: 'rows' | 'refusedRows';
  readonly values: object;
  /** Where the next ones follow. */
  readonly after: string;
  /** How many there are in all. */
  readonly count: string;
}

/** Writes the pages of the events and sends them. */
export class EventsViews {
  readonly #templates: Templates;
  readonly #endpoint: Pick<EndpointOptions, 'path' | 'callers'>;

  constructor(contract: Contract, endpoint: Pick<EndpointOptions, 'path' | 'callers'>) {
    this.#templates = loadTemplates(contract);
    this.#endpoint = endpoint;
  }

  /** Sends a page. */
  async send(response: ServerResponse, { page, title, status = 200, values }: View): Promise<void> {
    const { callers, path } = this.#endpoint;
    const { req: request } = response;
    const { html, headers } = this.#templates[page](title, callers.baseUrl(request) + path, {
      heading: title,
      ...values,
    });
    const fields = { ...NO_STORE, ...headers };
    if (status === 200) {
      await replyCompressed(request, response, HTML, html, { ...fields, Vary: `${callers.vary}, Accept-Encoding` });
    } else reply(response, status, HTML, html, fields);
  }

  /** Sends rows to the script of a list that is shown. */
  async sendRows(response: ServerResponse, { template, values, after, count }: NewRows): Promise<void> {
    const headers = { ...NO_STORE, 'X-Events-After': after, 'X-Events-Count': count };
    await replyCompressed(response.req, response, HTML, this.#templates[template](values), headers);
  }
}
