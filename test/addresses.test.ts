/**
 * Tests do not depend on the addresses of the machine: GC and `check` ask the kernel for these. Where a test needs a namespace
 * with an address, it has one that no other test has at the time.
 */

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "tap";
import { testFiles, usesExecutable } from "../scripts/test/files.ts";
import { inRepository } from "./harness/repository.ts";

/** Where private addresses do no harm: files, or directories by their names with a slash, and why. */
const exceptions: Readonly<Record<string, string>> = {
  "test/blackbox/differences.ts": "says what differs from recorded calls, which stay as they are",
  "test/blackbox/client-calls.test.ts": "calls are made as they were recorded",
  "test/operator/printed-commands.ts": "has the addresses of the documents",
  "test/conf-examples.test.ts": "the examples are for operators, and tried in memory",
  "test/e2e/": "scenarios have a network namespace of their own",
  "test/clients/": "scenarios have a network namespace of their own",
  "test/kubernetes/": "clusters have machines of their own",
  "test/operator/entry.test.ts": "has an example that messages give",
  "test/operator/reservations/show.test.ts": "has an example that messages give",
  "test/operator/operator-json.test.ts":
    "has the CIDRs of a cluster, for which no machine is looked at",
  "test/cluster/": "looks at no machine",
  "test/system/file-system-cases.ts": "has names of files alone",
};

const OCTET = /\d{1,3}|\$\{[^}]*\}/.source;

/** At least three octets of an address of 10/8, 172.16/12, 192.168/16 or 100.64/10, or one of fc00::/7. */
const PRIVATE = new RegExp(
  `(?<![\\w.:])(?:${[
    `10\\.(?:${OCTET})\\.(?:${OCTET})`,
    `172\\.(?:1[6-9]|2\\d|3[01])\\.(?:${OCTET})`,
    `192\\.168\\.(?:${OCTET})`,
    `100\\.(?:6[4-9]|[7-9]\\d|1[01]\\d|12[0-7])\\.(?:${OCTET})`,
    "f[cd][0-9a-f]{2}:[0-9a-f:]*",
  ].join("|")})`,
  "gi",
);

/** The beginning of an address for documentation or benchmarks (RFC 5737, RFC 2544, RFC 3849). */
const DOCUMENTATION = /\b(?:192\.0\.2|198\.51\.100|203\.0\.113|198\.1[89]\.\d+)\.|2001:db8:/;

/** The beginning of a literal that is an address. */
const LITERAL = /["'`](?:\d{1,3}\.){3}\d|["'`][0-9a-f]{1,4}:[0-9a-f:]/;

function textOf(path: string): string {
  return readFileSync(inRepository(path), "utf8");
}

/** The files below test/ that one imports, directly or not, and itself. */
function withHelpers(path: string, known = new Set<string>()): ReadonlySet<string> {
  if (known.has(path)) return known;
  known.add(path);
  for (const [, name = ""] of textOf(path).matchAll(/from "(\.[^"]+\.ts)"/g)) {
    const imported = join(dirname(path), name);
    if (imported.startsWith("test/") && existsSync(inRepository(imported))) {
      withHelpers(imported, known);
    }
  }
  return known;
}

/** An address that a message of the product has as an example. */
const EXAMPLE = /\bsuch as [\d./]+/g;

/** The private addresses in a text, without the signs that escape them in a pattern. */
function privateIn(text: string): readonly string[] {
  return [...new Set(text.replaceAll("\\", "").replaceAll(EXAMPLE, "").match(PRIVATE))];
}

/** What is between the brackets of each call of a function. */
function argumentsOf(name: string, text: string): readonly string[] {
  return [...text.matchAll(new RegExp(`\\b${name}\\(`, "g"))].map((found) => {
    const begin = found.index + found[0].length;
    let depth = 1;
    let at = begin;
    for (; at < text.length && depth > 0; at++) {
      if (text[at] === "(") depth += 1;
      if (text[at] === ")") depth -= 1;
    }
    return text.slice(begin, at - 1);
  });
}

/** Whether the tests of a file are scenarios, which have network namespaces of their own. */
function isScenario(path: string): boolean {
  return /^ *scenario\(/m.test(textOf(path)) && !/^ *test\(/m.test(textOf(path));
}

function isException(path: string): boolean {
  return (
    isScenario(path) ||
    Object.keys(exceptions).some(
      (exception) => path === exception || (exception.endsWith("/") && path.startsWith(exception)),
    )
  );
}

const found = `"10.0.0.0/24" IP=10.1.2.3 /10\\.0\\.0\\.1-10/ 10.7.\${at}.1 10.\${at}.0.1 172.16.0.1 172.31.255.0
  "192.168.1.1" "100.64.0.1" 100.127.0.1 "fd00::2" fc00:1:: /fd00:10:244::/`;

const notFound = `192.0.2.1 198.18.10.4 203.0.113.10 2001:db8:fd00::1 100.63.0.1 100.128.0.1 172.15.0.1 172.32.0.1
  192.169.0.1 0a:fd:00:00 110.0.0.1 10.0 0.10.0.1`;

test("private addresses are found in every form in which a test may have them", async (t) => {
  for (const text of found.split(/\s+/)) t.equal(privateIn(text).length, 1, text);
  for (const text of notFound.split(/\s+/)) t.same(privateIn(text), [], text);
});

test("no literal address is given to a network namespace: it is of ownNetwork", async (t) => {
  for (const { path } of testFiles()) {
    for (const name of ["processWith", "mountNamespace"]) {
      for (const words of argumentsOf(name, textOf(path))) t.notMatch(words, LITERAL, path);
    }
  }
});

test("no test of an executable, nor what it imports, has a private address", async (t) => {
  const files = testFiles().filter(usesExecutable);
  const all = new Set(files.flatMap(({ path }) => [...withHelpers(path)]));
  t.ok(all.size > files.length);
  for (const path of [...all].filter((path) => !isException(path)).sort()) {
    t.same(privateIn(textOf(path)), [], path);
  }
});

test("a pod of a scenario has no address for documentation: tests beside it reserve these", async (t) => {
  const scenarios = testFiles().filter(({ path }) => isScenario(path));
  t.ok(scenarios.length > 5);
  for (const { path } of scenarios) t.notMatch(textOf(path), DOCUMENTATION, path);
});

test("each exception is still one", async (t) => {
  for (const path of Object.keys(exceptions)) t.ok(existsSync(inRepository(path)), path);
});
