import { Router } from 'express';
import type { Endpoint } from './call/endpoint';
import { HTTP_ERRORS } from './http/errors';
import type { Handler } from './http/request-listener';
import type { HttpRequest } from './http/request';
import { documents } from './pages/service/documents';
import { eventsPages } from './pages/events/events-pages';
import { routeOperations } from './get-post/http-call';
import { SoapBindings, SoapCall } from './soap/soap-call';

/**
 * Returns the handler of the endpoint: the bindings and the documents that are on, on one path. As in IIS, the path is
 * case-insensitive; operation names are case-sensitive.
 *
 * @throws {ContractError} the contract and the service object do not have the same operations.
 */
export async function endpointHandler(endpoint: Endpoint): Promise<Handler> {
  const { contract, service } = endpoint;
  contract.check(service);
  const soap = await SoapBindings.create(contract, service);
  const router = Router({ strict: true });
  routeOperations(router, endpoint);
  router.use(eventsPages(endpoint));
  router.use(await documents(endpoint, soap));
  // A router works without an Express application, although its type asks for one.
  const withoutSoap = router as unknown as Handler;
  const path = endpoint.path.toLowerCase();
  const isEndpoint = (given: string): boolean => given === endpoint.path || given.toLowerCase() === path;
  const takesWebhooks = contract.protocols.bindings.has('httppost');

  return (request, response, next) => {
    if (soap !== undefined && request.method === 'POST' && isEndpoint(request.path)) {
      new SoapCall(request, response, endpoint, soap).answer().catch(next);
      return;
    }
    withoutSoap(request, response, (error) => {
      next(error ?? (takesWebhooks && MAY_BE_MEANT.test(request.path) ? nothingHere(endpoint, request) : undefined));
    });
  };
}

/** A segment of the original's path, whatever its extension, in the plural or not. */
const MAY_BE_MEANT = /\/(?:webhook|service|recordevent)s?(?:\.[^/]*)?(?:\/|$)/i;

/** The refusal of an address at which there is nothing, with the address for webhooks. */
function nothingHere({ path, callers }: Endpoint, request: HttpRequest): unknown {
  try {
    return HTTP_ERRORS.nothingHere(`${callers.baseUrl(request)}${path}/RecordEvent`);
  } catch (error) {
    return error;
  }
}
