import { Router, type Request } from 'express';
import { create } from 'xmlbuilder2';
import { Caller } from '../../access/caller';
import { HTTP_ERRORS, type RequestError } from '../../http/errors';
import type { Contract } from '../../contract/contract';
import type { Endpoint } from '../../call/incoming-call';
import { SoapVersion } from '../../soap/soap-version';
import { shortened } from '../../util/text';
import { builderText } from '../../xml/characters';
import { inTime, parametersOf, SECURITY_HEADERS } from '../page-request';
import { pageWriter, type HtmlPage } from '../page-writer';
import { samplesOf, type Soap } from './samples';

/** With a refusal it stands in for the one that was asked for. */
interface Document extends HtmlPage {
  readonly refusal?: RequestError;
}

const XML = 'text/xml; charset=utf-8';

/**
 * Serves the documents of the endpoint over `GET` and `HEAD`: `?WSDL`, `?WSDL=extended`, `?DISCO`, the page of an operation as
 * `?op=<Operation>` and, with any other query or none, the service page. Each names the address that the caller used.
 * `/` leads to the service page. With documentation off it refuses everything but messages and OPTIONS.
 */
export function documents(endpoint: Endpoint, soap: Soap): Router {
  const { contract, path, proxies, rate } = endpoint;
  const { hasSoap, documentation } = contract.protocols;
  const allow = `${documentation ? 'GET, HEAD, ' : ''}OPTIONS${hasSoap ? ', POST' : ''}`;
  const router = Router({ strict: true });
  const route = router.route(path);
  if (documentation) {
    const documentFor = documentWriter(endpoint, soap);
    route.all(SECURITY_HEADERS).get(async (request, response) => {
      rate.count(request);
      const { refusal, contentType, body, headers } = await documentFor(request);
      response.reply(refusal?.status ?? 200, contentType, body, { ...headers, Vary: proxies.vary });
      if (refusal !== undefined) throw refusal;
    });
    router
      .route('/')
      .get((request, response) => {
        const { pathname: prefix } = new URL(proxies.baseUrl(request));
        // Relative, so that it also holds behind a proxy about which nothing is configured.
        const location = prefix === '/' ? path.slice(1) : prefix + path;
        response.replyText(302, 'See the service page.', { Location: location, Vary: proxies.vary });
      })
      .options((_request, response) => response.replyWithoutBody({ Allow: 'GET, HEAD, OPTIONS' }));
  }
  route
    .options((_request, response) => response.replyWithoutBody({ Allow: allow }))
    .all(({ method }) => {
      // Messages are answered before.
      if (method === 'POST') throw contract.protocols.refusal('SOAP is off (PROTOCOLS)', allow);
      const soap = hasSoap ? 'Send SOAP with POST' : 'SOAP is off';
      const advice = `${soap}; get the service page, the WSDL and the discovery document with GET.`;
      if (documentation) throw HTTP_ERRORS.method(advice, allow);
      if (method !== 'GET' && method !== 'HEAD') throw HTTP_ERRORS.method('Only calls are answered here.', allow);
      throw contract.protocols.refusal('The documentation is off (DOCUMENTATION)', allow);
    });
  return router;
}

/** Returns a function that writes the document for which a request asks. */
function documentWriter(endpoint: Endpoint, soap: Soap) {
  const { contract, path, operations, proxies, access } = endpoint;
  const page = pageWriter(contract, 'operations', ['style.css']);
  const [servicePage, unknownPage] = [page('service', ['copy.js']), page('unknown-operation')];
  const [operationPage, invokingPage] = [page('operation', ['copy.js']), page('operation', ['copy.js', 'invoke.js'])];

  const operationDocument = async (name: string, url: string): Promise<Document> => {
    const operation = operations.get(name);
    if (operation === undefined) {
      const unknown = unknownPage('Operation not found', url, { name: shortened(name) });
      return { refusal: HTTP_ERRORS.noSuchOperation(name), ...unknown };
    }
    const credentials = access.rules.credentials[operation.access];
    const needsKey = credentials.includes('key');
    // A page cannot sign what it sends, and its form is a call over HTTP POST.
    const canInvoke = contract.protocols.bindings.has('httppost') && (needsKey || credentials.length === 0);
    return (canInvoke ? invokingPage : operationPage)(name, url, {
      operation,
      credentials,
      needsKey,
      canInvoke,
      samples: await samplesOf(operation, needsKey, url, contract, soap),
    });
  };

  return async (request: Request): Promise<Document> => {
    const url = proxies.baseUrl(request) + path;
    const fields = parametersOf(request.queryString);
    if (fields.get('wsdl')?.toLowerCase() === 'extended') return { contentType: XML, body: contract.extendedWsdl(url) };
    if (fields.has('wsdl')) return { contentType: XML, body: contract.wsdl(url) };
    if (fields.has('disco')) return { contentType: XML, body: discoveryDocument(contract, url) };
    const operation = fields.get('op');
    if (operation !== null) return operationDocument(operation, url);
    return servicePage(undefined, url, { events: await inTime(eventCount(request, endpoint)) });
  };
}

/** Counts the events, for callers who may look at them: the service page is for everybody. */
async function eventCount(request: Request, { log, access }: Endpoint): Promise<number> {
  Caller.checkViewer(request, access);
  return (await log.stats()).events;
}

function discoveryDocument({ namespace, serviceName, protocols }: Contract, endpointUrl: string): string {
  const address = builderText(endpointUrl);
  const discovery = create({ version: '1.0', encoding: 'utf-8' }).ele('http://schemas.xmlsoap.org/disco/', 'discovery');
  discovery
    .ele('http://schemas.xmlsoap.org/disco/scl/', 'contractRef')
    .att({ ref: `${address}?wsdl`, docRef: address });
  for (const { binding } of SoapVersion.all.filter((version) => protocols.bindings.has(version.binding)))
    discovery
      .ele('http://schemas.xmlsoap.org/disco/soap/', 'soap')
      .att('address', address)
      .att('http://www.w3.org/2000/xmlns/', 'xmlns:q1', builderText(namespace))
      .att('binding', `q1:${serviceName}${binding === 'soap11' ? 'Soap' : 'Soap12'}`);
  return discovery.end({ prettyPrint: true, spaceBeforeSlash: true });
}
