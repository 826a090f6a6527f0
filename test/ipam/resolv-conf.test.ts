import { test } from "tap";
import type { ResultDns } from "../../src/cni/result.ts";
import { NO_DNS, parseResolvConf } from "../../src/ipam/resolv-conf.ts";
import { refusalOf } from "../cni/refusal.ts";

test("settings are read from the lines of the file", async (t) => {
  const content = `; the file of a test
# nameserver 9.9.9.9
nameserver 192.0.2.3
  nameserver 192.0.2.4
domain example.com
search a.example b.example
search c.example
options ndots:2 timeout:1
options debug attempts:3
sortlist 130.155.160.0
`;
  t.strictSame(parseResolvConf(content), {
    nameservers: ["192.0.2.3", "192.0.2.4"],
    domain: "example.com",
    search: ["a.example", "b.example", "c.example"],
    options: ["ndots:2", "timeout:1", "debug", "attempts:3"],
  });
});

test("each line is read as the Go plugin reads it", async (t) => {
  const cases: readonly (readonly [content: string, dns: Partial<ResultDns>])[] = [
    ["nameserver 1.1.1.1\r\nnameserver 2.2.2.2\r\n", { nameservers: ["1.1.1.1", "2.2.2.2"] }],
    ["nameserver\r1.1.1.1", { nameservers: ["1.1.1.1"] }],
    ["\u00a0nameserver\u20031.1.1.1\u0085", { nameservers: ["1.1.1.1"] }],
    ["nameserver 1.1.1.1 2.2.2.2", { nameservers: ["1.1.1.1"] }],
    ["nameserver not-an-address#foo\0", { nameservers: ["not-an-address#foo\0"] }],
    ["nameserver 1\nnameserver 1", { nameservers: ["1", "1"] }],
    ["nameserver\nnameserver \nnameservers 1.1.1.1\n\ufeffnameserver 1.1.1.1", {}],
    ["  ; nameserver 1.1.1.1\n\u3000#nameserver 1.1.1.1", {}],
    ["domain a b\ndomain c d", { domain: "c" }],
    ["search x # y", { search: ["x", "#", "y"] }],
    ["options ndots:2 ; x", { options: ["ndots:2", ";", "x"] }],
  ];
  for (const [content, dns] of cases) {
    t.strictSame(parseResolvConf(content), { ...NO_DNS, ...dns }, JSON.stringify(content));
  }
});

test("a line, even a comment, may have at most 65535 bytes", async (t) => {
  const lineOf = (start: string, bytes: number): string => start + "x".repeat(bytes - start.length);
  for (const start of ["search ", "# "]) {
    t.doesNotThrow(() => parseResolvConf(lineOf(start, 65_535)), start);
    t.doesNotThrow(() => parseResolvConf(`${lineOf(start, 65_535)}\n`), start);
    for (const content of [lineOf(start, 65_536), `a\n${lineOf(start, 65_536)}\nb`]) {
      const refusal = refusalOf(() => parseResolvConf(content));
      t.strictSame([refusal.code, refusal.message], [999, "bufio.Scanner: token too long"]);
    }
  }
});

test("the limit counts bytes, not characters", async (t) => {
  for (const [character, most] of [
    ["é", 32_767],
    ["€", 21_845],
  ] as const) {
    t.doesNotThrow(() => parseResolvConf(character.repeat(most)));
    t.throws(() => parseResolvConf(character.repeat(most + 1)), /token too long/);
  }
});
