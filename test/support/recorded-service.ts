import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NAMESPACE } from './bindings';
import { ORIGINAL_OPERATIONS } from './contract';
import { startTarget, type Received } from './target';
import { PATH } from './wire';

const FIXTURES = join(__dirname, '..', 'fixtures');

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

/** Serves what was recorded on the original; a request that was not recorded gets 404. */
export async function startRecordedService(plant: Plant = (answer) => answer) {
  /** The requests so far, as a {@link Plant} gets them. */
  const requests: string[] = [];
  const target = await startTarget((request) => {
    const { method, path = '', headers } = request;
    const [place, text] = [path.slice(PATH.length), request.body.toString()];
    const name = [method, place, headers.soapaction, text].join(' ');
    requests.push(name);
    const { body, ...answer } = plant(recorded(request, place, text), name);
    return { ...answer, headers: { ...answer.headers, 'Content-Length': String(Buffer.byteLength(body)) }, body };
  });
  return { url: target.url + PATH, requests, stop: () => target.close() };
}

function recorded({ method, headers }: Received, path: string, body: string): RecordedAnswer {
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
