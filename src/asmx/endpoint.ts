import { Router } from 'express';
import type { Handler } from '../http/server';
import type { Service } from '../service/call';
import type { BindingOptions } from './binding';
import { checkOperations, type Contract } from './contract';
import { documents } from './documents';
import { httpBinding } from './http-binding';
import { soapBinding } from './soap-binding';

/**
 * The endpoint: all four bindings of the service and its documents, on one path. Paths are compared without regard to
 * case, as IIS does; operation names are not.
 *
 * @throws {ContractError} an operation is only in one of the contract and the service object.
 */
export async function endpoint(contract: Contract, service: Service, options: BindingOptions): Promise<Handler> {
  checkOperations(contract, service);
  const soap = await soapBinding(contract, service, options);
  const { path } = options;
  const router = Router();
  router.use(httpBinding(contract, service, options));
  router.use(await documents(contract, options));

  return (request, response, next) => {
    const { method, url = '' } = request;
    if (method === 'POST' && isEndpoint(url, path)) soap(request, response).catch(next);
    else router(request as Parameters<typeof router>[0], response as Parameters<typeof router>[1], next);
  };
}

function isEndpoint(url: string, path: string): boolean {
  if (url === path) return true;
  const mark = url.indexOf('?');
  const requested = mark === -1 ? url : url.slice(0, mark);
  return requested.length === path.length && requested.toLowerCase() === path.toLowerCase();
}
