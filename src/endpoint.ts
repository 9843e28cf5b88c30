import { Router } from 'express';
import type { Endpoint } from './call/endpoint';
import type { Handler } from './http/request-listener';
import { documents } from './pages/service/documents';
import { eventsPages } from './pages/events/events-pages';
import { routeOperations } from './get-post/http-call';
import { SoapBindings, SoapCall } from './soap/soap-call';

/**
 * Returns the handler of the endpoint: bindings and documents on one path, which is case-insensitive, as in IIS. Throws if the contract
 * and the service object do not have the same operations.
 */
export async function endpointHandler(endpoint: Endpoint): Promise<Handler> {
  const { contract, service } = endpoint;
  contract.check(service);
  const soap = await SoapBindings.create(contract, service);
  const router = Router({ strict: true });
  routeOperations(router, endpoint);
  router.use(eventsPages(endpoint));
  router.use(await documents(endpoint, soap));
  const withoutSoap = router as unknown as Handler;
  const path = endpoint.path.toLowerCase();
  const isEndpoint = (given: string): boolean => given === endpoint.path || given.toLowerCase() === path;
  return (request, response, next) => {
    if (soap !== undefined && request.method === 'POST' && isEndpoint(request.path)) {
      new SoapCall(request, response, endpoint, soap).answer().catch(next);
      return;
    }
    withoutSoap(request, response, next);
  };
}
