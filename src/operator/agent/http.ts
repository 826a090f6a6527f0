/** The part of HTTP/1.1 that Prometheus and kubelet need: GET, one request a connection (RFC 9110, RFC 9112). */

import { utf8Length } from "../../cni/unicode.ts";

/** A response without its header fields. */
export interface Answer {
  readonly status: keyof typeof reasons;
  readonly type?: string;
  readonly body: string;
}

/** The longest request up to its empty line, in bytes. */
const LONGEST_REQUEST = 8000;

const reasons = {
  200: "OK",
  400: "Bad Request",
  404: "Not Found",
  503: "Service Unavailable",
} as const;

/**
 * The response to a request.
 *
 * @param request what has arrived so far, a character for each byte
 * @param answer by the path, without the query
 * @returns `undefined` while the end of the header fields is missing
 */
export function responseTo(request: string, answer: (path: string) => Answer): string | undefined {
  const end = request.slice(0, LONGEST_REQUEST).search(/\r?\n\r?\n/);
  if (end < 0) return request.length < LONGEST_REQUEST ? undefined : format(BAD_REQUEST);
  const [, path] = /^GET (\/[^ ?]*)\S* HTTP\/1\.[01]\r?\n/.exec(request) ?? [];
  return format(path === undefined ? BAD_REQUEST : answer(path));
}

const BAD_REQUEST: Answer = {
  status: 400,
  body: `expected GET, in at most ${LONGEST_REQUEST} bytes\n`,
};

function format({ status, type = "text/plain; charset=utf-8", body }: Answer): string {
  return `HTTP/1.1 ${status} ${reasons[status]}\r
Content-Type: ${type}\r
Content-Length: ${utf8Length(body)}\r
Connection: close\r
\r
${body}`;
}
