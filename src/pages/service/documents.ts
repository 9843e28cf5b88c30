import { join } from 'node:path';
import { Router } from 'express';
import { create } from 'xmlbuilder2';
import { HTTP_ERRORS, type RequestError } from '../../http/errors';
import type { Binding } from '../../config/values';
import type { Contract } from '../../contract/contract';
import type { Endpoint } from '../../call/incoming-call';
import { shortened } from '../../util/text';
import { builderText } from '../../xml/characters';
import { pageWriter, SECURITY_HEADERS, type HtmlPage } from '../page-writer';
import { parametersOf } from '../events/list-query';
import { eventCount } from '../events/rate-view';
import { sampleWriter, type Soap } from './samples';

/** With a refusal it stands in for the one that was asked for. */
interface Document extends Omit<HtmlPage, 'headers'>, Partial<Pick<HtmlPage, 'headers'>> {
  readonly refusal?: RequestError;
}

const XML = 'text/xml; charset=utf-8';

/**
 * Serves the documents of the endpoint over `GET` and `HEAD`: `?WSDL`, `?WSDL=extended`, `?DISCO`, the page of an operation as
 * `?op=<Operation>` and, with any other query or none, the service page. Each names the address that the caller used.
 * `/` leads to the service page. With documentation off it refuses everything but messages and OPTIONS.
 */
export async function documents(endpoint: Endpoint, soap: Soap): Promise<Router> {
  const { contract, path, callers, rate } = endpoint;
  const { hasSoap, documentation } = contract.protocols;
  const allow = `${documentation ? 'GET, HEAD, ' : ''}OPTIONS${hasSoap ? ', POST' : ''}`;
  const router = Router({ strict: true });
  const route = router.route(path);
  if (documentation) {
    const pages = await loadPages(endpoint, soap);
    route.all(SECURITY_HEADERS).get(async (request, response) => {
      rate.count(request);
      const endpointUrl = callers.baseUrl(request) + path;
      const document: Document =
        documentOf(request.url, contract, pages, endpointUrl) ??
        pages.service(endpointUrl, await eventCount(request, endpoint));
      const { refusal, contentType, body, headers } = document;
      response.reply(refusal?.status ?? 200, contentType, body, { ...headers, Vary: callers.vary });
      if (refusal !== undefined) throw refusal;
    });
    router
      .route('/')
      .get((request, response) => {
        const { pathname: prefix } = new URL(callers.baseUrl(request));
        // Relative, so that it also holds behind a proxy about which nothing is configured.
        const location = prefix === '/' ? path.slice(1) : prefix + path;
        response.replyText(302, 'See the service page.', { Location: location, Vary: callers.vary });
      })
      .options((_request, response) => {
        response.replyWithoutBody(204, { Allow: 'GET, HEAD, OPTIONS' });
      });
  }
  route
    .options((_request, response) => {
      response.replyWithoutBody(204, { Allow: allow });
    })
    .all(({ method }) => {
      // Messages are answered before.
      if (method === 'POST' || (!documentation && ['GET', 'HEAD'].includes(method)))
        throw contract.protocols.refusal(
          method === 'POST' ? 'SOAP is off (PROTOCOLS)' : 'The documentation is off (DOCUMENTATION)',
          allow,
        );
      const documents = 'get the service page, the WSDL and the discovery document with GET.';
      const advice = hasSoap ? `Send SOAP with POST; ${documents}` : `SOAP is off; ${documents}`;
      throw HTTP_ERRORS.method(documentation ? advice : 'Only calls are answered here.', allow);
    });
  return router;
}

/** Undefined for the service page. */
function documentOf(url: string, contract: Contract, pages: Pages, endpointUrl: string): Document | undefined {
  const fields = parametersOf(url);
  if (fields.get('wsdl')?.toLowerCase() === 'extended')
    return { contentType: XML, body: contract.extendedWsdl(endpointUrl) };
  if (fields.has('wsdl')) return { contentType: XML, body: contract.wsdl(endpointUrl) };
  if (fields.has('disco')) return { contentType: XML, body: discoveryDocument(contract, endpointUrl) };
  const operation = fields.get('op');
  if (operation === null) return undefined;
  const page = pages.operation(operation, endpointUrl);
  if (page !== undefined) return page;
  return { refusal: HTTP_ERRORS.noSuchOperation(operation), ...pages.unknownOperation(operation, endpointUrl) };
}

function discoveryDocument({ namespace, serviceName, protocols }: Contract, endpointUrl: string): string {
  const address = builderText(endpointUrl);
  const discovery = create({ version: '1.0', encoding: 'utf-8' }).ele('http://schemas.xmlsoap.org/disco/', 'discovery');
  discovery
    .ele('http://schemas.xmlsoap.org/disco/scl/', 'contractRef')
    .att({ ref: `${address}?wsdl`, docRef: address });
  for (const [binding, port] of [
    ['soap11', 'Soap'],
    ['soap12', 'Soap12'],
  ] as const) {
    if (!protocols.bindings.has(binding)) continue;
    discovery
      .ele('http://schemas.xmlsoap.org/disco/soap/', 'soap')
      .att('address', address)
      .att('http://www.w3.org/2000/xmlns/', 'xmlns:q1', builderText(namespace))
      .att('binding', `q1:${serviceName}${port}`);
  }
  return discovery.end({ prettyPrint: true, spaceBeforeSlash: true });
}

type Pages = Awaited<ReturnType<typeof loadPages>>;

/** Loads the templates and prepares everything that does not depend on the request. */
async function loadPages({ contract, service, access }: Endpoint, soap: Soap) {
  const page = pageWriter(contract, 'operations', join(__dirname, 'templates'), ['style.css']);
  const [servicePage, unknownPage] = [page('service', ['copy.js']), page('unknown-operation')];
  const [operationPage, invokingPage] = [page('operation', ['copy.js']), page('operation', ['copy.js', 'invoke.js'])];
  const samples = await sampleWriter(contract, soap);
  const { bindings: on } = contract.protocols;

  return {
    service: (url: string, events: number | undefined): HtmlPage => servicePage(undefined, url, { events }),

    operation(name: string, url: string): HtmlPage | undefined {
      const operation = contract.describe(name);
      if (operation === undefined) return undefined;
      const needed = service[name]?.access ?? 'record';
      const credentials = access.rules.credentials[needed];
      const needsKey = credentials.includes('key');
      // A page cannot sign what it sends, and its form is a call over HTTP POST.
      const canInvoke = on.has('httppost') && (needsKey || credentials.length === 0);
      return (canInvoke ? invokingPage : operationPage)(name, url, {
        operation,
        access: needed,
        credentials,
        records: needed === 'record',
        needsKey,
        canInvoke,
        isOn: (binding: Binding) => on.has(binding),
        fields: operation.parameters.map(formField),
        samples: samples(operation, needsKey, url),
      });
    },

    unknownOperation: (name: string, url: string): HtmlPage =>
      unknownPage('Operation not found', url, { name: shortened(name) }),
  };
}

const STEPS: Readonly<Record<string, string>> = { int: '1', long: '1', decimal: 'any' };

function formField({ name, type, isRequired, documentation }: Contract['operations'][number]['parameters'][number]) {
  const choices = type.name === 'boolean' ? ['true', 'false'] : undefined;
  return {
    name,
    type: type.name,
    meaning: documentation,
    isRequired,
    choices,
    /** The `step` of a number (HTML, section 4.10.5.3.8). */
    step: STEPS[type.name],
    placeholder: type.name === 'dateTime' ? type.example : '',
  };
}
