// test: own process
/** Configurations as libcni itself reads them: what its cnitool refuses is refused here, and nothing else. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { isObject, type Json, type JsonObject } from "../../../src/cni/json.ts";
import { readConfigurationFiles } from "../../../src/operator/configured/configuration-files.ts";
import { configurationsIn } from "../../../src/operator/configured/configurations.ts";
import { createNodeSystem } from "../../../src/system/node/node-system.ts";
import { type Random, randomFrom } from "../../harness/random.ts";
import { inRepository } from "../../harness/repository.ts";
import { seed } from "../../harness/seed.ts";

const cnitool = inRepository("build/cnitool");

const skip = existsSync(cnitool)
  ? false
  : "There is no cnitool here to compare with; `npm run fetch -- cnitool` builds one.";

const plugin = { type: "bridge", ipam: { type: "host-local", subnet: "10.0.0.0/29" } };
const list = { cniVersion: "1.1.0", name: "net", plugins: [plugin] };
const single = { cniVersion: "1.1.0", name: "net", ...plugin };

/** What was read of a directory with one file of the network `net`. */
interface Read {
  readonly accepts: boolean;
  /** What each call of a plugin gets on standard input; none where the file is refused. */
  readonly sent: readonly Json[];
}

/** By libcni: a STATUS, for which it needs no namespace and writes no cache, with plugins that keep what they are sent. */
function readByLibcni(directory: string, confDir: string): Read {
  const sent = join(directory, "sent");
  const plugins = join(directory, "plugins");
  for (const one of [sent, plugins]) mkdirSync(one, { recursive: true });
  const keeping = `#!/bin/sh\nexec cat >"$(mktemp '${sent}/XXXXXX')"\n`;
  for (const type of ["bridge", "x", "true"]) {
    writeFileSync(join(plugins, type), keeping, { mode: 0o755 });
  }
  try {
    execFileSync(cnitool, ["status", "net", "/none"], {
      env: { PATH: process.env.PATH, NETCONFPATH: confDir, CNI_PATH: plugins },
      stdio: "pipe",
    });
  } catch {
    return { accepts: false, sent: [] };
  }
  const texts = readdirSync(sent).map((name) => readFileSync(join(sent, name), "utf8"));
  return { accepts: true, sent: texts.map((text) => JSON.parse(text)) };
}

function readHere(confDir: string): Read {
  const system = createNodeSystem();
  const problems: Parameters<typeof readConfigurationFiles>[2] = [];
  const files = readConfigurationFiles(system, confDir, problems);
  const found = configurationsIn(system, files, problems, new Set(["host-local"]));
  const own = found.filter(({ document }) => document.name === "net");
  const accepts = files.some((file) => file.refusal === undefined && file.network === "net");
  return { accepts, sent: accepts ? own.map(({ document }) => document) : [] };
}

/** Reads a file by both, and compares what they make of it. */
function compare(
  t: Test,
  name: string,
  text: string,
): { readonly expected: Read; readonly found: Read } {
  const directory = t.testdir({ conf: { [name]: text } });
  const confDir = join(directory, "conf");
  const expected = readByLibcni(directory, confDir);
  const found = readHere(confDir);
  t.equal(found.accepts, expected.accepts, text);
  return { expected, found };
}

for (const [what, file, document, isAccepted] of [
  ["a list", "a.conflist", list, true],
  ["a plugin alone", "a.conf", single, true],
  ["a version that is a number", "a.conf", { ...single, cniVersion: 1 }, false],
  ["dns that is a text", "a.conf", { ...single, dns: "10.0.0.1" }, false],
  ["ipam that is a list", "a.conf", { ...single, ipam: [plugin.ipam] }, false],
  [
    "ipam that is a list, in a list",
    "a.conflist",
    { ...list, plugins: [{ type: "bridge", ipam: [] }] },
    false,
  ],
  ["Name of a list", "a.conflist", { cniVersion: "1.1.0", Name: "net", plugins: [plugin] }, false],
  [
    "other letters",
    "a.conf",
    { CNIVersion: "1.1.0", NAME: "net", Type: "bridge", IPAM: plugin.ipam },
    true,
  ],
] as const) {
  test(`${what} is ${isAccepted ? "accepted" : "refused"} by libcni and here`, {
    skip,
  }, async (t) => {
    const { expected, found } = compare(t, file, JSON.stringify(document));
    t.equal(expected.accepts, isAccepted);
    t.equal(expected.sent.length, isAccepted ? 1 : 0);
    t.strictSame(found.sent, expected.sent);
  });
}

/** A value of every type. */
const values: readonly Json[] = [
  null,
  true,
  1,
  "x",
  "true",
  [],
  ["x"],
  [1],
  {},
  { type: "bridge" },
  { x: 1 },
];

/** The keys that libcni decodes, and one that it does not. */
const keys = [
  "cniVersion",
  "name",
  "type",
  "capabilities",
  "ipam",
  "dns",
  "search",
  "plugins",
  "disableCheck",
  "mtu",
];

/** A document with one member changed, written otherwise, or added, at any depth. */
function changed(random: Random, value: Json): Json {
  if (Array.isArray(value) && value.length > 0 && random.chance(80)) {
    const at = random.integer(value.length);
    return value.map((one: Json, index) => (index === at ? changed(random, one) : one));
  }
  if (!isObject(value) || random.chance(5)) return random.pick(values);
  const entries = Object.entries<Json>(value);
  const at = random.integer(entries.length + 1);
  const [key, old] = entries[at] ?? [random.pick(keys), random.pick(values)];
  const spelt = random.chance(25) ? key.toUpperCase() : key;
  // What a version is worth is for each verb to say: the type alone is for the reader.
  const wrong = key === "cniVersion" ? values.filter((one) => typeof one !== "string") : values;
  const next =
    random.chance(60) && typeof old === "object" ? changed(random, old) : random.pick(wrong);
  const others = entries.filter((_, index) => index !== at || random.chance(20));
  return Object.fromEntries([...others, [spelt, next]]) satisfies JsonObject;
}

test("random mistakes are mistakes to libcni and here", { skip }, async (t) => {
  const random = randomFrom(seed);
  for (let round = 0; round < 50; round++) {
    const isList = random.chance(50);
    let document: Json = isList ? list : single;
    for (let times = random.integer(3); times >= 0; times--) document = changed(random, document);
    const name = isList ? "a.conflist" : "a.conf";
    const { expected, found } = compare(t, name, JSON.stringify(document));
    // Not to a version without STATUS; and libcni also calls plugins that use another IPAM.
    if (expected.sent.length === 1 && found.sent.length === 1) {
      t.strictSame(found.sent, expected.sent);
    }
  }
});
