import { test } from "tap";
import { type Answer, responseTo } from "../../../src/operator/agent/http.ts";

const answer = (path: string): Answer =>
  path === "/metrics" ? { status: 200, body: "ü 1\n" } : { status: 404, body: "not found\n" };

const get = (request: string): string | undefined => responseTo(request, answer);

test("GET is answered, with the length in bytes", async (t) => {
  t.equal(
    get("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"),
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 5\r\nConnection: close\r\n\r\nü 1\n",
  );
});

for (const request of [
  "GET /metrics HTTP/1.0\r\n\r\n",
  "GET /metrics?name[]=x HTTP/1.1\r\nHost: a\r\n\r\n",
  "GET /metrics HTTP/1.1\nHost: a\n\n",
]) {
  test(`valid: ${JSON.stringify(request)}`, async (t) => {
    t.match(get(request), /^HTTP\/1.1 200 OK\r\n/);
  });
}

for (const [request, status] of [
  ["GET /other HTTP/1.1\r\n\r\n", "404 Not Found"],
  ["GET /metrics/ HTTP/1.1\r\n\r\n", "404 Not Found"],
  ["POST /metrics HTTP/1.1\r\n\r\n", "400 Bad Request"],
  ["HEAD /metrics HTTP/1.1\r\n\r\n", "400 Bad Request"],
  ["GET metrics HTTP/1.1\r\n\r\n", "400 Bad Request"],
  ["GET /metrics\r\n\r\n", "400 Bad Request"],
  ["GET /metrics HTTP/2.0\r\n\r\n", "400 Bad Request"],
  ["\u0016\u0003\u0001\r\n\r\n", "400 Bad Request"],
  [`GET /metrics HTTP/1.1\r\nx: ${"y".repeat(8000)}`, "400 Bad Request"],
  [`GET /metrics HTTP/1.1\r\nx: ${"y".repeat(8000)}\r\n\r\n`, "400 Bad Request"],
] as const) {
  test(`${JSON.stringify(request.slice(0, 40))}: ${status}`, async (t) => {
    t.ok(get(request)?.startsWith(`HTTP/1.1 ${status}\r\n`));
  });
}

test("an incomplete request gets no answer yet", async (t) => {
  const request = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";
  for (let length = 0; length < request.length; length++) {
    t.equal(get(request.slice(0, length)), undefined);
  }
});
