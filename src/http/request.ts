import type { Socket } from 'node:net';
import { posix } from 'node:path';
import { UnstreamedMessage } from './content/unstreamed-message';
import { HTTP_ERRORS, type RequestError } from './errors';

/** Most fields of a header, as in Kestrel and Apache. */
export const MAX_FIELDS = 100;

/** A request as the servers make it. */
export class HttpRequest extends UnstreamedMessage {
  /** The id in logs and in the reply. */
  id = '';
  /** The path of the target as it came. */
  receivedPath = '';
  /** The path in its normal form. */
  path = '';
  /** Without its question mark. */
  queryString = '';
  /** The keys in the query's `access_token` (RFC 6750, section 2.3), which is taken off the target before other code sees it. */
  accessTokens: readonly string[] = [];
  /** When its header had arrived, in the time of `performance.now()`. */
  receivedAt = 0;
  /** The call that it makes, once that has begun. */
  call: Readonly<{ binding: string; operation: { name: string } | undefined; ticket: { waited: number } }> | undefined;
  /** Set once the rate limit has counted it. */
  isCounted = false;

  /** @param connectionRefuses - the connection ends before this request, or too many wait. */
  constructor(
    socket: Socket,
    private readonly connectionRefuses = false,
  ) {
    super(socket);
  }

  /**
   * True if the request is refused unread. Node asks once the header has arrived. It then makes no response, reads no further, not even
   * in the bytes that it has, and leaves the socket to the listener of 'connect' or 'upgrade'.
   */
  get upgrade(): boolean {
    return this.connectionRefuses || this.rawHeaders.length > 2 * MAX_FIELDS || this.method === 'CONNECT';
  }

  // Node sets it if another protocol is asked for. Such a request is answered like any other.
  set upgrade(_isAskedFor: boolean) {
    return;
  }

  /** Why it is refused unread. */
  refusal(): RequestError {
    if (this.method === 'CONNECT') return HTTP_ERRORS.tunnel();
    return this.connectionRefuses ? HTTP_ERRORS.pipelined() : HTTP_ERRORS.headerTooLarge(MAX_FIELDS);
  }

  /**
   * Writes the target in its normal form, without `access_token`: in origin form, and `Host` with it, if it was in absolute form (RFC 9112,
   * section 3.2.2). Leaves any other target as it is.
   */
  normalizeTarget(): void {
    let { url = '/' } = this;
    if (!url.startsWith('/') && /^https?:\/\//i.test(url) && URL.canParse(url)) {
      this.headers.host = new URL(url).host;
      url = url.replace(/^[^/]*\/\/[^/?#]*(\/)?/, '/');
    }
    const query = url.indexOf('?');
    this.receivedPath = query === -1 ? url : url.slice(0, query);
    const isUnusual = this.receivedPath.startsWith('/') && UNUSUAL.test(this.receivedPath);
    this.path = isUnusual ? normalized(this.receivedPath) : this.receivedPath;
    this.queryString = query === -1 ? '' : url.slice(query + 1);
    // Joining it again would cost 0.2 µs: the router reads a joined text slowly.
    this.url = isUnusual ? this.path + url.slice(this.receivedPath.length) : url;
    if (query !== -1 && MAY_HAVE_TOKEN.test(this.queryString)) this.#takeTokens();
  }

  #takeTokens(): void {
    const fields = this.queryString.split('&');
    const isToken = (field: string): boolean => decoded(field.replace(/=.*$/s, '')) === 'access_token';
    const tokens = fields.filter(isToken);
    if (tokens.length === 0) return;
    this.accessTokens = tokens.map((field) => decoded(field.replace(/^[^=]*=?/, ''))).filter((key) => key !== '');
    this.queryString = fields.filter((field) => !isToken(field)).join('&');
    this.url = this.queryString === '' ? this.path : `${this.path}?${this.queryString}`;
  }
}

const MAY_HAVE_TOKEN = /access_token|%/;

/** Decodes percent escapes; a text that is not UTF-8 then stays as it is. */
export function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const UNUSUAL = /%|\/[/.]/;
const ESCAPED_UNRESERVED = /%(?:4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae]|3\d|2[de])/gi;

/** Without escapes of unreserved characters, dot segments (RFC 3986, section 6.2.2) and double slashes. */
function normalized(path: string): string {
  const unescaped = path.replace(ESCAPED_UNRESERVED, (escape) => String.fromCharCode(parseInt(escape.slice(1), 16)));
  // A dot segment at the end leaves the slash before it.
  return posix.normalize(unescaped.replace(/\/\.\.?$/, '$&/'));
}
