import { Router } from 'express';
import type { Handler } from './http/reception';
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
 * Makes the handler of the endpoint: the bindings and the documents that are offered, on one path. As in IIS, the path is
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
  const { documentation } = contract.offer;
  router.use(documentation ? await documents(contract, service, soap, options) : withoutDocuments(contract, options));
  // A router works without an Express application, although its type asks for its requests and responses.
  const withoutSoap = router as unknown as Handler;
  if (soap === undefined) return withoutSoap;
  const path = options.path.toLowerCase();

  return (request, response, next) => {
    if (request.method === 'POST' && pathOf(request.url ?? '').toLowerCase() === path) {
      pipeline.answer(new SoapCall(request, response, options, soap)).catch(next);
    } else withoutSoap(request, response, next);
  };
}

function pathOf(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}
