// test: each executable, one if short, sees the node, makes namespaces, acts as others
/** The files for operators in conf-examples/ are valid, and their commands work. */

import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { parse } from "yaml";
import { parseCommandLine } from "../../src/cli/command/command-line.ts";
import { findCommand } from "../../src/cli/manual/help.ts";
import { commands } from "../../src/commands.ts";
import { tasksOf } from "../../src/operator/agent/task.ts";
import type { Metric } from "../../src/operator/metrics/exposition.ts";
import { allFiles, readExample } from "../e2e/example.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { executable, type Outcome } from "../harness/executable.ts";
import { lacking, NOBODY } from "../harness/needs.ts";
import { processWith } from "../harness/network-namespaces.ts";
import { ownNetwork } from "../harness/own-network.ts";
import { inRepository } from "../harness/repository.ts";
import { type Node, nodeFor } from "./node.ts";
import { skipWithoutPromtool } from "./promtool.ts";

/** Where the README installs the tool. */
const installed = `${/^install -m 755 dist\/native\/host-local (\S+)/m.exec(readFileSync(inRepository("README.md"), "utf8"))?.[1]}host-local`;

const skipWithoutSystemd: string | false =
  spawnSync("systemd-analyze", ["security", "--help"]).status === 0
    ? false
    : "systemd-analyze is not installed; on Debian it is in the package systemd.";

/** Runs the tool with the capabilities of a unit, and no others. */
function limited(node: Node, unit: string, words: readonly string[]): Outcome {
  const [, names = ""] =
    /^CapabilityBoundingSet=(.*)$/m.exec(readExample(`operator/${unit}`)) ?? [];
  const set = names.split(" ").map((name) => `+${name.replace("CAP_", "").toLowerCase()}`);
  const bounds = ["--no-new-privs", `--bounding-set=-all,${set.join(",")}`, executable];
  return node.tool([...bounds, ...words, "--cache-dir", node.cacheDir], { program: "setpriv" });
}

/** The names of all metrics, those without samples among them. */
function metricsOf(node: Node): ReadonlySet<string> {
  const { metrics } = node.json(["metrics"]).document as { metrics: readonly Metric[] };
  return new Set(metrics.map(({ name }) => name));
}

function nodeWithPod(t: Parameters<typeof nodeFor>[0]): Node {
  const node = nodeFor(t);
  node.network("mynet", { subnet: "198.51.100.0/24" });
  node.call("ADD", "mynet", "c1");
  return node;
}

for (const file of ["operator/prometheus-rules.yaml", "operator/grafana-dashboard.json"]) {
  test(`${file}: every metric in it exists`, async (t) => {
    const known = metricsOf(nodeWithPod(t));
    const used = new Set(Array.from(readExample(file).matchAll(/cni_ipam_\w+/g), ([name]) => name));

    t.ok(used.size > 3);
    t.same(
      [...used].filter((name) => !known.has(name)),
      [],
    );
  });
}

/** Runs promtool on a file of tests. */
function requirePassed(t: Test, file: string): void {
  t.match(spawnSync("promtool", ["test", "rules", file], { encoding: "utf8" }), {
    status: 0,
    stderr: "",
  });
}

const ruleTests = inRepository("test/operator/prometheus-rules.yaml");

test(
  "prometheus-rules.yaml: every alert fires when it should, and not when it should not",
  {
    skip: skipWithoutPromtool,
  },
  async (t) => requirePassed(t, ruleTests),
);

test("prometheus-rules.yaml: promtool has a case of each alert that fires, and one that does not", async (t) => {
  const { groups } = parse(readExample("operator/prometheus-rules.yaml"));
  const alerts = groups[0].rules.map(({ alert }: { alert: string }) => alert);
  const { tests } = parse(readFileSync(ruleTests, "utf8"));
  const cases: readonly { alertname: string; exp_alerts: readonly unknown[] }[] = tests.flatMap(
    ({ alert_rule_test }: { alert_rule_test: readonly unknown[] }) => alert_rule_test,
  );
  const namesOf = (fires: boolean) =>
    new Set(
      cases
        .filter(({ exp_alerts }) => exp_alerts.length > 0 === fires)
        .map(({ alertname }) => alertname),
    );

  t.same([...namesOf(true)].sort(), alerts.toSorted());
  t.same([...namesOf(false)].sort(), alerts.toSorted());
});

test("grafana-dashboard.json: it shows the smallest range set of a pod, not the sum of families", {
  skip: skipWithoutPromtool,
}, async (t) => {
  const { panels } = JSON.parse(readExample("operator/grafana-dashboard.json"));
  const expected = (title: string, value: number) => {
    const panel = panels.find((one: { title: string }) => one.title === title);
    const expr = panel.targets[0].expr.replaceAll(/\$\w+/g, ".*");
    const labels = '{instance="node-1", network="net", data_dir="/data"}';
    return { expr, eval_time: "1m", exp_samples: [{ labels, value }] };
  };
  const series = (metric: string, rangeSet: number, range: string, value: number) => ({
    series: `${metric}{instance="node-1", network="net", data_dir="/data", range_set="${rangeSet}", range="${range}"}`,
    values: `${value}x5`,
  });
  const file = join(scratchDirectory(t), "test.json");
  const test = {
    interval: "1m",
    input_series: [
      series("cni_ipam_addresses_used", 0, "a", 26),
      series("cni_ipam_addresses_used", 0, "b", 4),
      series("cni_ipam_addresses_used", 1, "c", 30),
      series("cni_ipam_addresses_capacity", 0, "a", 30),
      series("cni_ipam_addresses_capacity", 0, "b", 10),
      series("cni_ipam_addresses_capacity", 1, "c", 65_030),
    ],
    promql_expr_test: [
      expected("Pods that still fit", 10),
      expected("Addresses in use, the fullest first", 0.75),
    ],
  };
  writeFileSync(file, JSON.stringify({ evaluation_interval: "1m", tests: [test] }));

  requirePassed(t, file);
});

test("node-problem-detector.json: each rule runs the tool, and its condition is declared", async (t) => {
  const monitor = JSON.parse(readExample("operator/node-problem-detector.json"));
  const conditions = monitor.conditions.map(({ type }: { type: string }) => type);
  const node = nodeWithPod(t);

  t.match(monitor["//"], /hostNetwork: true/);
  t.equal(monitor.plugin, "custom");
  t.equal(monitor.pluginConfig.max_output_length, 80);
  for (const rule of monitor.rules) {
    t.equal(rule.path, installed);
    t.ok(conditions.includes(rule.condition));
    t.match(node.tool(rule.args), { exitCode: 0, stdout: /^OK: / });
  }
});

/** Words as systemd splits them, also those of a variable. */
function wordsIn(line: string): readonly string[] {
  return Array.from(
    line.matchAll(/"([^"]*)"|(\S+)/g),
    ([, quoted, plain]) => quoted ?? plain ?? "",
  );
}

/** What follows in a unit's line after its beginning. */
function lineOf(unit: string, beginning: string): string {
  const lines = readExample(`operator/host-local-${unit}.service`).split("\n");
  const line = lines.find((one) => one.startsWith(beginning));
  if (line === undefined) throw new Error(`${unit} has no line ${beginning}`);
  return line.slice(beginning.length);
}

/** The command of a unit, with a value of its variable, which is split at blanks where it is a word of its own. */
function commandOf(unit: string, value: string): readonly string[] {
  const line = wordsIn(lineOf(unit, `ExecStart=${installed} `));
  return line.flatMap((word) =>
    /^\$\w+$/.test(word) ? wordsIn(value) : [word.replace(/\$\{\w+\}/, value)],
  );
}

/** The options of gc in the example, which is a comment of its unit. */
const gcOptions = lineOf("gc", "#   GC_OPTIONS='").replace(/'$/, "");

for (const [unit, value, words] of [
  ["gc", lineOf("gc", "Environment=GC_OPTIONS="), ["gc", "--yes"]],
  ["gc", gcOptions, ["gc", "mynet", "--live-command", "crictl pods -q", "--yes"]],
  ["install", "/cni/bin", ["install", "/cni/bin", "--if-replaced", "--yes"]],
  ["metrics", "/collector", ["metrics", "--output", "/collector/cni-ipam.prom"]],
] as const) {
  test(`host-local-${unit}.service: its command is understood with ${value || "no options"}`, async (t) => {
    const [name = "", ...rest] = commandOf(unit, value);
    t.same([name, ...rest], words);
    t.doesNotThrow(() => parseCommandLine(findCommand(commands, name), rest));
  });
}

test("host-local-agent.service: its command is one that the agent understands", async (t) => {
  for (const [value, more] of [
    [lineOf("agent", "Environment=GC_OPTIONS="), []],
    [gcOptions, ["mynet", "--live-command", "crictl pods -q"]],
  ] as const) {
    const [name = "", ...words] = commandOf("agent", value);
    const tasks = tasksOf(parseCommandLine(findCommand(commands, name), words), commands);
    t.same(
      tasks.map((task) => task.words),
      [["metrics"], ["gc", ...more, "--yes", "--log"]],
    );
  }
});

const units = [
  "host-local-agent.service",
  ...["gc", "install", "metrics"].flatMap((name) => [
    `host-local-${name}.service`,
    `host-local-${name}.timer`,
  ]),
];

/** Copies of the units that name the executable under test, in quotes: systemd must find the program. */
function copiedUnits(t: Parameters<typeof scratchDirectory>[0]): readonly string[] {
  const directory = scratchDirectory(t);
  return units.map((file) => {
    const path = join(directory, file);
    writeFileSync(path, readExample(`operator/${file}`).replaceAll(installed, `"${executable}"`));
    return path;
  });
}

test("every timer has a service, and every service but the agent a timer", async (t) => {
  t.same(
    allFiles.filter((file) => /\.(service|timer)$/.test(file)),
    units.map((file) => `operator/${file}`).sort(),
  );
});

test("the units: systemd understands them", { skip: skipWithoutSystemd }, async (t) => {
  const words = ["verify", "--man=no", ...copiedUnits(t)];

  const { status, stderr } = spawnSync("systemd-analyze", words, { encoding: "utf8" });

  t.equal(status, 0);
  t.notMatch(stderr, /host-local/);
});

test("the services: systemd rates their exposure below 4 of 10", {
  skip: skipWithoutSystemd,
}, async (t) => {
  for (const path of copiedUnits(t).filter((one) => one.endsWith(".service"))) {
    const words = ["security", "--offline=true", "--threshold=39", "--no-pager", path];
    const { status, stdout, stderr } = spawnSync("systemd-analyze", words, { encoding: "utf8" });
    t.equal(status, 0, path);
    t.match(stdout, /Overall exposure level for host-local-\w+\.service: [0-3]\./);
    t.equal(stderr, "");
  }
});

for (const file of ["host-local-gc.service", "host-local-metrics.service"]) {
  test(`${file}: its capabilities are enough for running pods and files of other users`, {
    skip: lacking("sees the node", "makes namespaces", "acts as others"),
  }, async (t) => {
    const { ipv4 } = await ownNetwork(t);
    const node = nodeFor(t);
    node.network("mynet", { subnet: `${ipv4}.0/24` });
    node.call("ADD", "mynet", "c1");
    const output = join(scratchDirectory(t), "node-exporter");
    mkdirSync(output);
    for (const path of [node.dataDir, join(node.dataDir, "mynet"), output]) {
      chownSync(path, NOBODY, NOBODY);
      chmodSync(path, 0o700);
    }
    await processWith(t, `${ipv4}.2/32`);
    const written = join(output, "cni-ipam.prom");

    t.match(limited(node, file, ["metrics", "--output", written]), { exitCode: 0, stderr: "" });

    const text = readFileSync(written, "utf8");
    t.match(text, /^cni_ipam_addresses_used\{network="mynet",.*\} 1$/m);
    t.notMatch(text, "leaked-reservation", "its process is seen");
    t.notMatch(text, "leaks-unknown", "its process is seen");
  });
}
