import type { IncomingMessage } from 'node:http';
import type { Binding, Call } from '../service/call';

/** Tells the absolute address under which a caller reaches the endpoint. */
export type EndpointUrl = (request: IncomingMessage) => string;

/** The part of a {@link Call} that is the same for every binding. */
export function requestCall(
  request: IncomingMessage,
  binding: Binding,
  endpointUrl: EndpointUrl,
): Omit<Call, 'payload' | 'parameters'> {
  return {
    binding,
    method: request.method ?? '',
    target: request.url ?? '',
    headers: request.headers,
    remoteAddress: request.socket.remoteAddress,
    endpointUrl: () => endpointUrl(request),
  };
}
