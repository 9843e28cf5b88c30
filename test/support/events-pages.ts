import { expectNothingHeld } from './nothing-held';
import { send } from './http';
import { startService, type TestService } from './service';

type Fields = Readonly<Record<string, string>>;

export const TEXT = { 'Content-Type': 'text/plain' };
export const JSON_TYPE = { 'Content-Type': 'application/json' };
export const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
export const CLOUD_EVENT = { 'Content-Type': 'application/cloudevents+json' };

/** Starts a service for each test, and looks at the pages of its events. */
export function useEventsPages(variables: Fields = {}) {
  let service: TestService;
  beforeEach(async () => {
    service = await startService(variables);
  });
  afterEach(() => expectNothingHeld(service));
  const record = (body: string | Buffer = '', headers: Fields = {}, path = '') =>
    send(`${service.url}/RecordEvent${path}`, { method: 'POST', headers, body });
  return {
    service: () => service,
    get: (query: string, headers: Fields = {}) => send(service.url + query, { headers }),
    page: async (query: string) => (await send(service.url + query)).body,
    /** The page as a person reads it, on one line. */
    text: async (query: string) => {
      const { body } = await send(service.url + query);
      const main = body.replace(/<(style|script)\b[^]*?<\/\1>/g, '').replace(/<[^>]*>/g, ' ');
      return main.replace(/\s+/g, ' ');
    },
    record,
    recordCloudEvent: (event: object) =>
      record(JSON.stringify({ specversion: '1.0', id: '1', source: '/s', type: 't', ...event }), CLOUD_EVENT),
    /** Records CloudEvents of the type `t` in one batch. */
    recordMany: (count: number) => {
      const event = { specversion: '1.0', source: '/s', type: 't' };
      const events = Array.from({ length: count }, (_, i) => ({ ...event, id: `e${String(i)}` }));
      return record(JSON.stringify(events), { 'Content-Type': 'application/cloudevents-batch+json' });
    },
  };
}

/** The positions of the events in a list. */
export const positionsIn = (html: string): string[] =>
  [...html.matchAll(/<tr data-row="(\d+)">/g)].map(([, at = '']) => at);

/** The address of the link with an id. */
export const linkOf = (html: string, id: string): string | undefined =>
  new RegExp(`<a href="([^"]*)"[^>]* id="${id}">`).exec(html)?.[1]?.replaceAll('&amp;', '&');
