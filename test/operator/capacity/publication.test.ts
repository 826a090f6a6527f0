// test: each executable, one if short
/** capacity: how the number of pods gets to the scheduler without a patch. */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { nodeFor } from "../node.ts";

/** What node-feature-discovery takes from a feature file at a time (its source `local`, 0.15 and later). */
function featuresIn(text: string, now: number) {
  const features: Record<string, string> = {};
  const labels: Record<string, string> = {};
  let expiry = Number.POSITIVE_INFINITY;
  let isLabel = true;
  for (const line of text.split("\n").map((one) => one.trim())) {
    const [, directive, value = ""] = /^# \+([^=]+)=?(.*)$/.exec(line) ?? [];
    if (directive === "expiry-time") expiry = Date.parse(value);
    if (directive === "no-label") isLabel = false;
    if (line === "" || line.startsWith("#") || expiry < now) continue;
    const [name = "", ...rest] = line.split("=");
    features[name] = rest.join("=");
    if (isLabel) labels[name] = rest.join("=");
    isLabel = true;
  }
  return { features, labels };
}

test("--node-feature writes a feature that is not a label, and expires after an hour", async (t) => {
  const node = nodeFor(t);
  const directory = scratchDirectory(t);
  node.network("net", { subnet: "10.0.0.0/24" });
  const before = Date.now();

  const outcome = node.tool(["capacity", "net", "--node-feature", directory]);

  const path = join(directory, "host-local.net");
  t.strictSame(outcome, { exitCode: 0, stdout: "", stderr: "" }, "nothing to say, as for a timer");
  const text = readFileSync(path, "utf8");
  const expected = { features: { "example.com/pod-ips": "253" }, labels: {} };
  t.strictSame(featuresIn(text, before + 3_599_000), expected);
  t.strictSame(featuresIn(text, Date.now() + 3_601_000), { features: {}, labels: {} });
  t.equal(statSync(path).mode & 0o777, 0o644);
});

test("it is replaced atomically, and nothing else is left in the directory", async (t) => {
  const node = nodeFor(t);
  const directory = scratchDirectory(t);
  const words = ["capacity", "--node-feature", directory, "--resource", "example.org/v4"];
  node.network("net", { subnet: "10.0.0.0/24" });
  node.tool(words);
  const { ino } = statSync(join(directory, "host-local.net"));
  node.network("net", { subnet: "10.0.0.0/28" });

  const { exitCode } = node.tool([...words, "--expires-after", "2m"]);

  t.equal(exitCode, 0);
  t.same(readdirSync(directory), ["host-local.net"]);
  const path = join(directory, "host-local.net");
  t.not(statSync(path).ino, ino);
  const { features } = featuresIn(readFileSync(path, "utf8"), Date.now() + 119_000);
  t.strictSame(features, { "example.org/v4": "13" });
  t.strictSame(featuresIn(readFileSync(path, "utf8"), Date.now() + 121_000).features, {});
});

test("a directory that does not exist is an error: node-feature-discovery would not read it", async (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: "10.0.0.0/24" });
  t.strictSame(node.tool(["capacity", "--node-feature", join(node.root, "none")]), {
    exitCode: 2,
    stdout: "",
    stderr: `host-local: capacity: --node-feature: ${node.root}/none: no such file or directory\n`,
  });
});
