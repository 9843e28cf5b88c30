import type { IncomingMessage, ServerResponse } from 'node:http';
import escapeHtml from 'escape-html';
import { Router } from 'express';
import { CloudEventError } from '../events/cloud-event';
import { replyCompressed } from '../http/compressed-reply';
import { replyText } from '../http/reply';
import { RequestError } from '../http/request-error';
import { messageChain } from '../message-chain';
import { ParameterError, type Call, type Operation, type Service } from '../service/call';
import { requestCall, type EndpointAddress } from './call';
import type { Contract } from './contract';
import { httpContent } from './cloud-event-request';
import { httpParameters, type HttpInput } from './http-payload';
import type { BindingOptions } from './soap-binding';
import { STRING_CONTENT_TYPE, stringElement } from './string-element';

const EMPTY = Buffer.alloc(0);

/** HTTP GET and POST: `{path}/<Operation>`, answered with one `string` element. */
export function httpBinding(contract: Contract, service: Service, options: BindingOptions): Router {
  const writeString = stringElement(contract.namespace);
  const router = Router({ strict: true });

  const answer = async (
    request: IncomingMessage & { params: { operation: readonly string[] } },
    response: ServerResponse,
    binding: 'httpget' | 'httppost',
  ): Promise<void> => {
    try {
      const operation = operationNamed(request.params.operation.join('/'), contract, service);
      const body = binding === 'httppost' ? await options.readBody(request, response) : EMPTY;
      const result = await operation(httpCall(request, binding, body, options));
      await replyCompressed(request, response, STRING_CONTENT_TYPE, writeString(result));
    } catch (error) {
      // ASP.NET writes the message of an exception HTML-escaped, although it is plain text.
      replyText(response, statusOf(error), escapeHtml(messageChain(error)));
    }
  };

  router
    .route(`${options.path}/*operation`)
    // Before GET, which Express would let answer HEAD: a request for the header alone must not call anything.
    .head((_request, response) => {
      refuseMethod(response);
    })
    .get((request, response) => answer(request, response, 'httpget'))
    .post((request, response) => answer(request, response, 'httppost'))
    .all((_request, response) => {
      refuseMethod(response);
    });
  return router;
}

function refuseMethod(response: ServerResponse): void {
  replyText(response, 405, 'An operation is called with GET or POST.', { Allow: 'GET, POST' });
}

function operationNamed(name: string, contract: Contract, service: Service): Operation {
  const found = contract.operation(contract.namespace, name);
  const operation = found === undefined ? undefined : service[found];
  if (operation !== undefined) return operation;
  const right = contract.operations.find((other) => other.name.toLowerCase() === name.toLowerCase())?.name;
  if (right === undefined) throw new Error(`${name} Web Service method name is not valid.`);
  throw new Error(
    `Invalid method name '${name}',  method names are case sensitive.   ` +
      `The method name '${right}' with the same name but different casing was found.\nParameter name: methodName`,
  );
}

function httpCall(
  request: IncomingMessage,
  binding: 'httpget' | 'httppost',
  body: Buffer,
  address: EndpointAddress,
): Call {
  const target = request.url ?? '';
  const mark = target.indexOf('?');
  const query = mark === -1 ? '' : target.slice(mark + 1);
  const input: HttpInput = { query, headers: request.headers, body };
  return {
    ...requestCall(request, binding, address),
    content: () => httpContent(input),
    parameters: () => httpParameters(input),
  };
}

function statusOf(error: unknown): number {
  if (error instanceof ParameterError || error instanceof CloudEventError) return 400;
  return error instanceof RequestError ? error.status : 500;
}
