// test: each executable, one if short, each architecture
/** `metrics` on real directories. */

import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import type { Metric } from "../../../src/operator/metrics/exposition.ts";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { executable, type Outcome } from "../../harness/executable.ts";
import { skipWithoutNamespaces } from "../../harness/network-namespaces.ts";
import { inRepository } from "../../harness/repository.ts";
import { withOthers } from "../gc/pods-on-node.ts";
import { type Node, nodeFor } from "../node.ts";
import { skipWithoutPromtool } from "../promtool.ts";

const { version } = JSON.parse(readFileSync(inRepository("package.json"), "utf8"));

/** Addresses that no process on this machine has, such as a pod of another test: it would count as alive. */
const unused = "10.213.77.0/24";

/** The lines with values, the data directory as `DATA`. */
function samplesIn({ dataDir }: Node, text: string): readonly string[] {
  return text
    .replaceAll(dataDir, "DATA")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
}

function samplesExcept(name: RegExp, node: Node, text: string): readonly string[] {
  return samplesIn(node, text).filter((line) => !name.test(line));
}

/** The samples of one metric as the command prints them. */
function samplesOf(name: string, node: Node): readonly string[] {
  return samplesIn(node, node.tool(["metrics"]).stdout).filter((line) =>
    line.startsWith(`${name}{`),
  );
}

/** Runs the command where a network namespace is mounted at a path. */
function metricsBesides(netns: string, node: Node): Outcome {
  const script = 'touch "$0" && unshare --net="$0" true && exec "$@"';
  const words = ["--mount", "sh", "-c", script, netns, executable, "metrics"];
  return node.tool([...words, "--cache-dir", node.cacheDir], { program: "unshare" });
}

test("each range has its counts, exact for IPv6, too", async (t) => {
  const node = nodeFor(t);
  node.network("net", {
    ranges: [[{ subnet: "10.1.2.0/29" }, { subnet: "10.1.3.0/30" }], [{ subnet: "fd00:1::/64" }]],
    exclude: ["10.1.2.6"],
    reserved: { "fd00:1::/120": "default/db-0", "10.9.9.9": null },
  });
  for (const id of ["c1", "c2", "c3", "c4"]) node.call("ADD", "net", id);
  node.write("net/10.1.2.9", "", 60);
  node.write("net/10.1.3.2", "c4\r\neth0", 1);
  node.age("net/10.1.2.3", Date.now() / 1000 - 1_700_000_000.5);

  const { exitCode, stdout, stderr } = node.tool(["metrics"]);

  t.equal(exitCode, 0);
  t.equal(stderr, "");
  const small = 'network="net",data_dir="DATA",range_set="0",range="10.1.2.1-10.1.2.6"';
  const next = 'network="net",data_dir="DATA",range_set="0",range="10.1.3.1-10.1.3.2"';
  const large =
    'network="net",data_dir="DATA",range_set="1",range="fd00:1::1-fd00:1::ffff:ffff:ffff:ffff"';
  const net = 'network="net",data_dir="DATA"';
  t.same(samplesExcept(/^cni_ipam_(check_findings|reservations_dead)/, node, stdout), [
    `cni_ipam_build_info{version="v${version}"} 1`,
    `cni_ipam_addresses_capacity{${small}} 4`,
    `cni_ipam_addresses_capacity{${next}} 1`,
    `cni_ipam_addresses_capacity{${large}} 18446744073709551360`,
    `cni_ipam_addresses_reserved{${small}} 0`,
    `cni_ipam_addresses_reserved{${next}} 0`,
    `cni_ipam_addresses_reserved{${large}} 254`,
    `cni_ipam_addresses_used{${small}} 4`,
    `cni_ipam_addresses_used{${next}} 1`,
    `cni_ipam_addresses_used{${large}} 4`,
    `cni_ipam_addresses_free{${small}} 0`,
    `cni_ipam_addresses_free{${next}} 0`,
    `cni_ipam_addresses_free{${large}} 18446744073709551356`,
    `cni_ipam_reservations{${net}} 10`,
    `cni_ipam_reservations_out_of_range{${net}} 1`,
    `cni_ipam_reservations_unowned{${net}} 1`,
    `cni_ipam_reservations_reclaimable{${net}} 1`,
    `cni_ipam_reservations_before_boot{${net}} 0`,
    `cni_ipam_addresses_cooling{${net}} 0`,
    `cni_ipam_oldest_reservation_timestamp_seconds{${net}} 1700000000`,
    "cni_ipam_configuration_errors 0",
  ]);
});

test("reservations that gc found dead are counted until they are released", async (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: unused });
  for (const id of ["c1", "c2", "c3"]) node.call("ADD", "net", id);
  node.tool(["gc", "--live", "-", "--grace", "0s"], { stdin: withOthers(["c3"]).join("\n") });
  const dead = () => samplesOf("cni_ipam_reservations_dead", node);

  t.same(dead(), ['cni_ipam_reservations_dead{network="net",data_dir="DATA"} 2']);
  node.call("DEL", "net", "c2");
  t.same(dead(), ['cni_ipam_reservations_dead{network="net",data_dir="DATA"} 1']);
});

test("where nothing shows whether containers are alive, there is no sample rather than 0", async (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: unused });
  node.call("ADD", "net", "c1");
  t.same(samplesOf("cni_ipam_reservations_dead", node), [], "it may be dead");

  node.tool(["gc", "--live", "-", "--grace", "0s", "--yes"], {
    stdin: withOthers(["c1"]).join("\n"),
  });

  t.same(samplesOf("cni_ipam_reservations_dead", node), [
    'cni_ipam_reservations_dead{network="net",data_dir="DATA"} 0',
  ]);
});

test("reservations whose network namespace is gone count as dead without a run of gc", {
  skip: skipWithoutNamespaces,
}, async (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: unused });
  const netns = join(node.root, "netns");
  for (const id of ["c1", "c2", "c3"]) {
    node.call("ADD", "net", id);
    node.remember("net", id, "", { netns: join(netns, id) });
  }
  for (const last of [2, 3, 4]) node.age(`net/10.213.77.${last}`, 300);
  mkdirSync(netns);

  const { stdout, stderr } = metricsBesides(join(netns, "c1"), node);

  t.equal(stderr, "");
  t.match(stdout, /^cni_ipam_reservations_dead\{network="net",.*\} 2$/m);
});

test("that some containers are alive shows nothing about the others", {
  skip: skipWithoutNamespaces,
}, async (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: unused });
  const netns = join(node.root, "alive");
  for (const id of ["c1", "c2"]) node.call("ADD", "net", id);
  node.remember("net", "c1", "", { netns });
  const metrics = () => metricsBesides(netns, node).stdout;
  t.notMatch(metrics(), "cni_ipam_reservations_dead{", "c2 may be dead");

  node.call("DEL", "net", "c2");

  t.match(metrics(), /^cni_ipam_reservations_dead\{network="net",.*\} 0$/m);
});

test("the last run of gc is that of its last run with --yes that was not refused", async (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: "10.1.2.0/24" });
  node.call("ADD", "net", "c1");
  const lastRun = () => samplesOf("cni_ipam_gc_last_run_timestamp_seconds", node);
  const before = Math.floor(Date.now() / 1000);

  node.tool(["gc", "--live", "-"], { stdin: withOthers(["c1"]).join("\n") });
  t.same(lastRun(), [], "a dry run collects nothing");
  node.tool(["gc", "--live", "-", "--grace", "0s", "--yes"], { stdin: "" });
  t.same(lastRun(), [], "an empty list is refused");

  node.tool(["gc", "--live", "-", "--yes"], { stdin: withOthers(["c1"]).join("\n") });

  const [sample = ""] = lastRun();
  t.match(sample, /^cni_ipam_gc_last_run_timestamp_seconds\{network="net",data_dir="DATA"\} /);
  const time = Number(sample.split(" ")[1]);
  t.ok(before <= time && time <= Date.now() / 1000);
});

test("findings are counted as check counts them, for each network and severity", async (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: "10.1.2.0/24" });
  node.network("other", { subnet: "10.1.3.0/24" });
  node.write("net/10.1.2.9", "", 60);
  node.write("net/10.1.9.9", "c1\r\neth0", 60);
  node.write("old/lock", "");
  writeFileSync(join(node.confDir, "bad.conf"), "{");

  const { document } = node.json(["check"]);
  const { metrics } = node.json(["metrics"]).document as { metrics: readonly Metric[] };

  const { counts } = document as { counts: Record<"error" | "warning" | "info", number> };
  const samples = metrics.find(({ name }) => name === "cni_ipam_check_findings")?.samples ?? [];
  const sum = (severity: string) =>
    samples.reduce(
      (total, { labels, value }) => total + (labels.severity === severity ? Number(value) : 0),
      0,
    );
  for (const severity of ["error", "warning", "info"] as const) {
    t.ok(counts[severity] > 0);
    t.equal(sum(severity), counts[severity]);
  }
  t.match(samples[0], { labels: { severity: "error" }, value: 1 }, "the file is of no network");
  t.strictSame(
    samples.find(({ labels }) => labels.network === "other" && labels.severity === "error")?.value,
    0,
    "known not to be there, so 0",
  );
});

test("a range that two configurations name is measured once", async (t) => {
  const node = nodeFor(t);
  const path = node.network("net", { subnet: "10.1.2.0/24" });
  writeFileSync(join(node.confDir, "again.conf"), readFileSync(path));

  const { stdout } = node.tool(["metrics"]);

  t.equal(stdout.match(/^cni_ipam_addresses_capacity\{/gm)?.length, 1);
});

test("a network without a configuration has no ranges, and a bad configuration is counted", async (t) => {
  const node = nodeFor(t);
  node.write("old/10.1.2.5", "c5\r\neth0", 60);
  writeFileSync(join(node.confDir, "bad.conf"), "{");

  const { exitCode, stdout, stderr } = node.tool(["metrics"]);

  t.equal(exitCode, 0);
  t.match(stderr, /bad\.conf: invalid JSON: unexpected end of JSON input/);
  t.notMatch(stdout, /addresses_capacity|out_of_range/);
  t.match(stdout, /^cni_ipam_reservations\{network="old",.*\} 1$/m);
  t.match(stdout, /^cni_ipam_configuration_errors 1$/m);
  t.match(node.tool(["metrics", "none"]), { exitCode: 2, stderr: /unknown network "none"/ });
});

test("--json has the same numbers", async (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: "fd00:1::/64" });

  const { exitCode, stdout } = node.tool(["metrics", "--json"]);

  t.equal(exitCode, 0);
  t.match(stdout, '"value": 18446744073709551614\n');
  const { metrics } = JSON.parse(stdout);
  t.match(metrics[1], {
    name: "cni_ipam_addresses_capacity",
    type: "gauge",
    samples: [{ labels: { network: "net", range_set: "0" } }],
  });
});

test("docs/metrics.md describes every metric", async (t) => {
  const { metrics } = nodeFor(t).json(["metrics"]).document as { metrics: readonly Metric[] };
  const page = readFileSync(inRepository("docs/metrics.md"), "utf8");

  t.ok(metrics.length > 10);
  for (const { name } of metrics) t.match(page, `\`${name.replace("cni_ipam_", "")}\``);
});

test("--output replaces a file in one step, and leaves nothing else", async (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: "10.1.2.0/24" });
  const directory = scratchDirectory(t);
  const path = join(directory, "cni-ipam.prom");
  writeFileSync(path, "old");
  const { ino } = statSync(path);

  t.same(node.tool(["metrics", "--output", path]), { exitCode: 0, stdout: "", stderr: "" });

  t.equal(readFileSync(path, "utf8"), node.tool(["metrics"]).stdout);
  t.not(statSync(path).ino, ino, "whoever reads the old file reads all of it");
  t.equal(statSync(path).mode & 0o777, 0o644);
  t.same(readdirSync(directory), ["cni-ipam.prom"]);
});

test("--output that cannot be written is exit code 2, and leaves nothing", async (t) => {
  const node = nodeFor(t);
  const directory = scratchDirectory(t);
  mkdirSync(join(directory, "taken", "inside"), { recursive: true });

  t.match(node.tool(["metrics", "--output", join(directory, "taken")]), {
    exitCode: 2,
    stderr: /^host-local: metrics: --output: \S+taken exists and is not a regular file/,
  });
  t.match(node.tool(["metrics", "--output", join(directory, "none", "x")]), {
    exitCode: 2,
    stderr: `host-local: open ${join(directory, "none", "x")}: no such file or directory\n`,
  });
  t.same(readdirSync(directory), ["taken"]);
});

test("promtool accepts the metrics", { skip: skipWithoutPromtool }, async (t) => {
  const node = nodeFor(t);
  node.network("net", { ranges: [[{ subnet: "10.1.2.0/24" }], [{ subnet: "fd00:1::/64" }]] });
  node.call("ADD", "net", "c1");

  const { stdout } = node.tool(["metrics"]);
  const outcome = spawnSync("promtool", ["check", "metrics"], { input: stdout, encoding: "utf8" });

  t.match(outcome, { status: 0, stdout: "", stderr: "" });
});
