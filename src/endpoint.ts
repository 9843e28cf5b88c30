import { Router } from 'express';
import { HTTP_ERRORS } from './http/errors';
import type { Handler } from './http/reception';
import type { HttpRequest } from './http/request';
import type { Service } from './service/call';
import { checkOperations, type Contract } from './contract/contract';
import { documents, withoutDocuments } from './pages/service/documents';
import { eventsPages, type EventsPagesParts } from './pages/events/events-pages';
import { routeOperations, type HandshakeOptions } from './get-post/http-call';
import { Pipeline, type EndpointOptions } from './call/pipeline';
import { soapBindings, SoapCall } from './soap/soap-call';

/** What the endpoint needs besides the contract and the service object. */
export interface EndpointParts extends EndpointOptions {
  /** Which senders may deliver webhooks; without it none may. */
  readonly handshake?: HandshakeOptions | undefined;
  /** Without it there are no pages of the events. */
  readonly events?: EventsPagesParts | undefined;
}

/**
 * Makes the handler of the endpoint: the bindings and the documents that are on, on one path. As in IIS, the path is
 * case-insensitive; operation names are case-sensitive.
 *
 * @throws {ContractError} the contract and the service object do not have the same operations.
 */
export async function endpoint(contract: Contract, service: Service, options: EndpointParts): Promise<Handler> {
  checkOperations(contract, service);
  const pipeline = new Pipeline(service, options);
  const soap = await soapBindings(contract, service);
  const router = Router({ strict: true });
  routeOperations(router, contract, service, pipeline, options);
  const needsKey = options.access?.proofs.record.includes('key') === true;
  if (options.events !== undefined) router.use(eventsPages(contract, { ...options, needsKey }, options.events));
  const { documentation } = contract.protocols;
  router.use(documentation ? await documents(contract, service, soap, options) : withoutDocuments(contract, options));
  // A router works without an Express application, although its type asks for its requests and responses.
  const withoutSoap = router as unknown as Handler;
  const path = options.path.toLowerCase();
  const isNear = nearTo(`${path}/RecordEvent`);
  const takesWebhooks = contract.protocols.bindings.has('httppost');

  return (request, response, next) => {
    const requested = pathOf(request.url ?? '');
    if (soap !== undefined && request.method === 'POST' && requested.toLowerCase() === path) {
      pipeline.answer(new SoapCall(request, response, options, soap)).catch(next);
      return;
    }
    withoutSoap(request, response, (error) => {
      next(error ?? (takesWebhooks && isNear(requested) ? nothingHere(options, request) : undefined));
    });
  };
}

/** The refusal of an address at which there is nothing, which tells where webhooks go. */
function nothingHere({ path, callers }: EndpointOptions, request: HttpRequest): unknown {
  try {
    return HTTP_ERRORS.nothingHere(`${callers.baseUrl(request)}${path}/RecordEvent`);
  } catch (error) {
    return error;
  }
}

/** Returns a function that tells whether a path has a segment of this one, whatever its extension, in the plural or not. */
function nearTo(path: string): (other: string) => boolean {
  const names = (text: string): string[] =>
    text
      .toLowerCase()
      .split('/')
      .map((segment) => segment.replace(/s?(?:\..*)?$/, ''));
  const near = new Set(names(path).filter((name) => name !== ''));
  return (other) => names(other).some((name) => near.has(name));
}

function pathOf(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}
