import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import escapeHtml from 'escape-html';
import { Router } from 'express';
import { CloudEventError } from '../events/cloud-event';
import { replyCompressed } from '../http/compressed-reply';
import { LARGE } from '../turns';
import { replyText } from '../http/reply';
import { RequestError } from '../http/request-error';
import { messageChain } from '../message-chain';
import { ParameterError, type Content, type Fields, type Operation, type Service } from '../service/call';
import { refusalOf, type BindingOptions } from './binding';
import { RequestCall, type EndpointAddress } from './call';
import type { Contract } from './contract';
import { httpContent } from './cloud-event-request';
import { httpParameters, type HttpInput } from './http-payload';
import { STRING_CONTENT_TYPE, stringElement } from './string-element';

const EMPTY = Buffer.alloc(0);

/** HTTP GET and POST: `{path}/<Operation>`, answered with one `string` element. */
export function httpBinding(contract: Contract, service: Service, options: BindingOptions): Router {
  const writeString = stringElement(contract.namespace);
  const router = Router({ strict: true });
  const { access, rate, inFlight } = options;

  const answer = async (
    request: IncomingMessage & { params: { operation: readonly string[] } },
    response: ServerResponse,
    binding: 'httpget' | 'httppost',
  ): Promise<void> => {
    const started = performance.now();
    let operation: string | undefined;
    try {
      if (rate !== undefined) await rate(request);
      const found = operationNamed(request.params.operation.join('/'), contract, service);
      operation = found.name;
      const signed = access?.needsBody(request);
      if (!signed) access?.check(operation, request, {});
      const body = binding === 'httppost' ? await options.readBody(request, response) : EMPTY;
      if (signed) access?.check(operation, request, { body });
      inFlight.enter();
      const turnEnds = body.length > LARGE ? await options.turns.take() : undefined;
      try {
        const result = await found.operation(new HttpCall(request, binding, body, options));
        await replyCompressed(request, response, STRING_CONTENT_TYPE, writeString(result));
      } finally {
        turnEnds?.();
        inFlight.leave();
      }
      options.report(request, { binding, operation, started });
    } catch (error) {
      const { status, headers } = refusalReply(error);
      // ASP.NET writes the message of an exception HTML-escaped, although it is plain text.
      replyText(response, status, escapeHtml(messageChain(error)), headers);
      const refusal = isRefusal(error) ? { refusal: refusalOf(error) } : {};
      options.report(request, { binding, operation, started, error, ...refusal });
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

function operationNamed(
  name: string,
  contract: Contract,
  service: Service,
): { readonly name: string; readonly operation: Operation } {
  const found = contract.operation(contract.namespace, name);
  const operation = found === undefined ? undefined : service[found];
  if (operation !== undefined) return { name, operation };
  const right = contract.operations.find((other) => other.name.toLowerCase() === name.toLowerCase())?.name;
  if (right === undefined) throw new RequestError(500, `${name} Web Service method name is not valid.`);
  throw new RequestError(
    500,
    `Invalid method name '${name}',  method names are case sensitive.   ` +
      `The method name '${right}' with the same name but different casing was found.\nParameter name: methodName`,
  );
}

class HttpCall extends RequestCall {
  readonly #body: Buffer;

  constructor(request: IncomingMessage, binding: 'httpget' | 'httppost', body: Buffer, address: EndpointAddress) {
    super(request, binding, address);
    this.#body = body;
  }

  override content(): Content {
    return httpContent(this.#input());
  }

  override parameters(): Fields {
    return httpParameters(this.#input());
  }

  #input(): HttpInput {
    const { target, headers } = this;
    const mark = target.indexOf('?');
    return { query: mark === -1 ? '' : target.slice(mark + 1), headers, body: this.#body };
  }
}

function isRefusal(error: unknown): error is ParameterError | CloudEventError | RequestError {
  return error instanceof ParameterError || error instanceof CloudEventError || error instanceof RequestError;
}

function refusalReply(error: unknown): { readonly status: number; readonly headers?: OutgoingHttpHeaders | undefined } {
  if (error instanceof RequestError) return error;
  return { status: isRefusal(error) ? 400 : 500 };
}
