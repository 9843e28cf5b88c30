import { Router } from 'express';
import { reply, replyText } from '../http/reply';
import type { EndpointUrl } from './call';
import type { Contract } from './contract';

/** The documents on the endpoint itself: `GET {path}?WSDL`. */
export function documents(contract: Contract, path: string, endpointUrl: EndpointUrl): Router {
  const router = Router();
  router
    .route(path)
    .get((request, response) => {
      if (/^[^?]*\?wsdl(?:$|[&=])/i.test(request.url)) {
        reply(response, 200, 'text/xml; charset=utf-8', contract.wsdl(endpointUrl(request)));
      } else {
        replyText(response, 404, 'The service description is at ?WSDL.');
      }
    })
    .all((_request, response) => {
      replyText(response, 405, 'The endpoint takes SOAP by POST and gives its documents by GET.', {
        Allow: 'GET, HEAD, POST',
      });
    });
  return router;
}
