import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { NAMESPACE } from './bindings';
import { ORIGINAL_OPERATIONS } from './contract';

const FIXTURES = join(__dirname, '..', 'fixtures');
const PATH = '/webhooks/Services/WebHooks.asmx';

const ORIGINAL_WSDL = readFileSync(join(FIXTURES, 'WebHooks.wsdl'), 'utf8');
const OWN_WSDL = readFileSync(join(__dirname, '..', '..', 'wsdl', 'WebHooks.wsdl'), 'utf8');
const hasAdded = [...OWN_WSDL.matchAll(/<wsdl:operation name="(\w+)"/g)].some(
  ([, name = '']) => !ORIGINAL_OPERATIONS.includes(name),
);

/** The WSDL of the original, with the address under which it was; with operations that were added here it is that of this service. */
export const RECORDED_WSDL = (hasAdded ? OWN_WSDL.replace(/\{action (\w+)\}/g, '{namespace}$1') : ORIGINAL_WSDL)
  .replaceAll('{namespace}', NAMESPACE)
  .replaceAll('{address}', `http://old.example.com${PATH}`);

/** An answer of the original. */
export interface RecordedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Exchange {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly bodyBase64?: string;
  };
  /** What this service answers on purpose, where that is not as the original. */
  readonly better?: {
    readonly status?: number;
    readonly fault?: string;
    readonly contains?: string;
    readonly allow?: readonly string[];
  };
  readonly response: { readonly status: number; readonly contentType: string | null; readonly body: string | null };
}

/** What was recorded on the original. */
export const EXCHANGES = JSON.parse(readFileSync(join(FIXTURES, 'asmx-cases.json'), 'utf8')) as Exchange[];

/** What a test changes in the answers of the original; the request is its method, path with query, SOAPAction and body. */
export type Plant = (answer: RecordedAnswer, request: string) => RecordedAnswer;

const running = new Set<Server>();

// Stops what a failed test left running.
afterAll(() => running.forEach((server) => server.close().closeAllConnections()));

/** Serves what was recorded on the original; a request that was not recorded gets 404. */
export async function startRecordedService(plant: Plant = (answer) => answer) {
  /** The requests so far, as a {@link Plant} gets them. */
  const requests: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const path = (request.url ?? '').slice(PATH.length);
    const name = [request.method, path, request.headers.soapaction, body].join(' ');
    requests.push(name);
    const { status, headers, body: content } = plant(recorded(request, path, body), name);
    response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(content) }).end(content);
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  running.add(server);
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}${PATH}`,
    requests,
    stop: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}

function recorded({ method, headers }: IncomingMessage, path: string, body: string): RecordedAnswer {
  if (method === 'GET' && /^\?wsdl$/i.test(path)) return answered(200, 'text/xml; charset=utf-8', RECORDED_WSDL);
  if (method === 'GET' && path === '') return answered(200, 'text/html; charset=utf-8', '<html></html>');
  const found = EXCHANGES.find(
    ({ request }) =>
      request.method === method &&
      request.path.replace(/\?$/, '') === path &&
      (request.body ?? '') === body &&
      request.headers['Content-Type'] === headers['content-type'] &&
      request.headers.SOAPAction === headers.soapaction,
  )?.response;
  return found === undefined
    ? answered(404, 'text/html', 'not recorded')
    : answered(found.status, found.contentType ?? undefined, found.body ?? '');
}

function answered(status: number, contentType: string | undefined, body: string): RecordedAnswer {
  const type = contentType === undefined ? {} : { 'Content-Type': contentType };
  const volatile = { Server: 'Microsoft-IIS/10.0', 'X-AspNet-Version': '4.0.30319', 'X-Powered-By': 'ASP.NET' };
  return { status, headers: { ...type, 'Cache-Control': 'private, max-age=0', ...volatile }, body };
}
