import type { ServerResponse } from 'node:http';
import type { HttpRequest } from './http-request';

/** Answers a request, or calls `next`: with an error when it failed, without one when the request is not for it. */
export type Handler = (request: HttpRequest, response: ServerResponse, next: (error?: unknown) => void) => void;

/** The handler of a server that has only its pages. */
export const noHandler: Handler = (_request, _response, next) => {
  next();
};
