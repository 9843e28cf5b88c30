import type { IncomingMessage, ServerResponse } from 'node:http';
import etag from 'etag';
import { Router } from 'express';
import fresh from 'fresh';
import helmet from 'helmet';
import { reply, replyText } from '../http/reply';
import type { BindingOptions } from './binding';
import type { Contract } from './contract';
import { discoveryDocument } from './disco';
import { loadPages, type Pages } from './pages';

interface Document {
  readonly status?: number;
  readonly contentType: string;
  readonly body: string;
}

type DocumentOptions = Pick<BindingOptions, 'path' | 'callers' | 'rate'>;

const XML = 'text/xml; charset=utf-8';
const HTML = 'text/html; charset=utf-8';

/**
 * The documents on the endpoint itself, for `GET` and `HEAD`: `?WSDL`, `?DISCO`, `?op=<Operation>` and, for any other query
 * or none, the service page. All of them name the address under which the caller reached the endpoint.
 */
export async function documents(contract: Contract, { path, callers, rate }: DocumentOptions): Promise<Router> {
  const pages = await loadPages(contract);
  const router = Router({ strict: true });
  router
    .route(path)
    .all(securityHeaders(pages))
    .get(async (request, response) => {
      if (rate !== undefined) await rate(request);
      const endpointUrl = callers.baseUrl(request) + path;
      send(request, response, documentOf(request.url, contract, pages, endpointUrl), callers.vary);
    })
    .all((_request, response) => {
      const text = 'The endpoint takes SOAP by POST and gives its documents by GET.';
      replyText(response, 405, text, { Allow: 'GET, HEAD, POST' });
    });
  return router;
}

function documentOf(url: string, contract: Contract, pages: Pages, endpointUrl: string): Document {
  const query = new URLSearchParams(url.replace(/^[^?]*/, ''));
  const names = new Map([...query.keys()].map((name) => [name.toLowerCase(), name]));
  if (names.has('wsdl')) return { contentType: XML, body: contract.wsdl(endpointUrl) };
  if (names.has('disco')) return { contentType: XML, body: discoveryDocument(contract, endpointUrl) };
  const operation = query.get(names.get('op') ?? '');
  if (operation === null) return { contentType: HTML, body: pages.service(endpointUrl) };
  const page = pages.operation(operation, endpointUrl);
  if (page !== undefined) return { contentType: HTML, body: page };
  return { status: 404, contentType: HTML, body: pages.unknownOperation(operation, endpointUrl) };
}

function send(request: IncomingMessage, response: ServerResponse, document: Document, vary: string): void {
  const { status = 200, contentType, body } = document;
  const headers = { ETag: etag(body), Vary: vary };
  if (status === 200 && fresh(request.headers, { etag: headers.ETag })) {
    response.writeHead(304, headers).end();
    return;
  }
  reply(response, status, contentType, body, headers);
}

/** Style and script stand in the page and are allowed by their hash; nothing else is loaded from anywhere. */
function securityHeaders({ styleSource, scriptSource }: Pages): ReturnType<typeof helmet> {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        styleSrc: [styleSource],
        scriptSrc: [scriptSource],
        imgSrc: ['data:'],
        formAction: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    // Whether a host is reached by HTTPS alone is for those to say who run it.
    strictTransportSecurity: false,
  });
}
