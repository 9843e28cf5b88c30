import { Router } from 'express';
import { replyError, replyText, replyWithoutBody } from '../../http/reply';
import type { Contract } from '../../contract/contract';
import type { EndpointOptions } from '../../call/incoming-call';
import { takesSoap, unofferedAtEndpoint } from '../../contract/offer';

/** Refuses what the endpoint's path does not serve where the documentation is off: everything but messages and OPTIONS. */
export function withoutDocuments({ offer }: Contract, { path }: Pick<EndpointOptions, 'path'>): Router {
  const allow = takesSoap(offer.bindings) ? 'OPTIONS, POST' : 'OPTIONS';
  const router = Router({ strict: true });
  const route = router.route(path).options((_request, response) => {
    replyWithoutBody(response, 204, { Allow: allow });
  });
  for (const method of ['get', 'post'] as const) {
    const error = unofferedAtEndpoint(offer, method.toUpperCase(), allow);
    route[method]((_request, response) => {
      replyError(response, error);
    });
  }
  route.all((_request, response) => {
    replyText(response, 405, 'Only calls are answered here.', { Allow: allow });
  });
  return router;
}
