import type { IncomingMessage } from 'node:http';
import type { Callers } from '../http/caller';
import type { Binding, Call } from '../service/call';

/** Where the endpoint is, as callers see it. */
export interface EndpointAddress {
  /** Path of the endpoint, with a leading slash. */
  readonly path: string;
  readonly callers: Callers;
}

/** The part of a {@link Call} that is the same for every binding. */
export function requestCall(
  request: IncomingMessage,
  binding: Binding,
  { path, callers }: EndpointAddress,
): Omit<Call, 'content' | 'parameters'> {
  return {
    binding,
    method: request.method ?? '',
    target: request.url ?? '',
    headers: request.headers,
    remoteAddress: () => callers.address(request),
    endpointUrl: () => callers.baseUrl(request) + path,
  };
}
