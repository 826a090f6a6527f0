/** As much of HTTP/1.1 as Prometheus and kubelet need: GET, one request a connection (RFC 9110, RFC 9112). */

import { utf8Length } from "../../cni/unicode.ts";

/** A response without its header fields. */
export interface Answer {
  readonly status: 200 | 400 | 404 | 405 | 431 | 503;
  readonly type?: string;
  readonly body: string;
}

/** The longest request, in characters, which are bytes in a valid one. */
const LONGEST_REQUEST = 8000;

const reasons = {
  200: "OK",
  400: "Bad Request",
  404: "Not Found",
  405: "Method Not Allowed",
  431: "Request Header Fields Too Large",
  503: "Service Unavailable",
} as const;

/**
 * The response to a request.
 *
 * @param request what has arrived so far
 * @param answer by the path, without the query
 * @returns `undefined` while the end of the header fields is missing
 */
export function responseTo(request: string, answer: (path: string) => Answer): string | undefined {
  if (!/\r?\n\r?\n/.test(request)) {
    return request.length < LONGEST_REQUEST
      ? undefined
      : format({ status: 431, body: "request too large\n" });
  }
  const [, method, path = ""] = /^([A-Z]+) (\/[^ ?]*)\S* HTTP\/1\.[01]\r?\n/.exec(request) ?? [];
  if (method === undefined) return format({ status: 400, body: "bad request\n" });
  if (method !== "GET") return format({ status: 405, body: "method not allowed\n" });
  return format(answer(path));
}

function format({ status, type = "text/plain; charset=utf-8", body }: Answer): string {
  const fields = [
    `HTTP/1.1 ${status} ${reasons[status]}`,
    `Content-Type: ${type}`,
    `Content-Length: ${utf8Length(body)}`,
    ...(status === 405 ? ["Allow: GET"] : []),
    "Connection: close",
  ];
  return `${fields.join("\r\n")}\r\n\r\n${body}`;
}
