import type { IncomingMessage, ServerResponse } from 'node:http';
import etag from 'etag';
import { Router } from 'express';
import fresh from 'fresh';
import helmet from 'helmet';
import { reply, replyText, replyWithoutBody } from '../../http/reply';
import type { RateLimit } from '../../http/rate-limit';
import type { Contract } from '../contract';
import type { EndpointOptions } from '../exchange';
import type { SoapBindings } from '../soap/soap-exchange';
import { discoveryDocument } from './disco';
import { loadPages, type Pages } from './pages';

interface Document {
  readonly status?: number;
  readonly contentType: string;
  readonly body: string;
}

const XML = 'text/xml; charset=utf-8';
const HTML = 'text/html; charset=utf-8';

/**
 * Serves the documents of the endpoint over `GET` and `HEAD`: `?WSDL`, `?WSDL=extended`, `?DISCO`, the page of an operation as
 * `?op=<Operation>` and, with any other query or none, the service page. Each names the address that the caller used.
 * `/` leads to the service page.
 */
export async function documents(
  contract: Contract,
  soap: SoapBindings,
  { path, callers }: EndpointOptions,
  rate: RateLimit | undefined,
): Promise<Router> {
  const pages = await loadPages(contract, soap);
  const router = Router({ strict: true });
  router
    .route(path)
    .all(securityHeaders(pages))
    .get(async (request, response) => {
      if (rate !== undefined) await rate(request);
      const endpointUrl = callers.baseUrl(request) + path;
      send(request, response, documentOf(request.url, contract, pages, endpointUrl), callers.vary);
    })
    .options((_request, response) => {
      replyWithoutBody(response, 204, ALLOW);
    })
    .all((_request, response) => {
      const text = 'Send SOAP with POST; get the service page, the WSDL and the discovery document with GET.';
      replyText(response, 405, text, ALLOW);
    });
  router
    .route('/')
    .get((request, response) => {
      const { pathname: prefix } = new URL(callers.baseUrl(request));
      // Relative, so that it also holds behind a proxy about which nothing is configured.
      const location = prefix === '/' ? path.slice(1) : prefix + path;
      replyText(response, 302, 'See the service page.', { Location: location, Vary: callers.vary });
    })
    .options((_request, response) => {
      replyWithoutBody(response, 204, { Allow: 'GET, HEAD, OPTIONS' });
    });
  return router;
}

const ALLOW = { Allow: 'GET, HEAD, OPTIONS, POST' };

function documentOf(url: string, contract: Contract, pages: Pages, endpointUrl: string): Document {
  const query = new URLSearchParams(url.replace(/^[^?]*/, ''));
  const names = new Map([...query.keys()].map((name) => [name.toLowerCase(), name]));
  const wsdl = query.get(names.get('wsdl') ?? '');
  if (wsdl?.toLowerCase() === 'extended') return { contentType: XML, body: contract.extendedWsdl(endpointUrl) };
  if (wsdl !== null) return { contentType: XML, body: contract.wsdl(endpointUrl) };
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
    replyWithoutBody(response, 304, headers);
    return;
  }
  reply(response, status, contentType, body, headers);
}

/** Allows only the page's own style and script, by their hashes; nothing is loaded from elsewhere. */
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
    // Whether a host may be reached over plain HTTP is for the operator to decide.
    strictTransportSecurity: false,
  });
}
