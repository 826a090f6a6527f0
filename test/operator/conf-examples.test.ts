/** The files for operators in conf-examples/ are valid, and their commands work. */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { parse } from "yaml";
import { scratchDirectory } from "../blackbox/data-directory.ts";
import { executable, inRepository } from "../blackbox/executable.ts";
import { readExample } from "../e2e/example.ts";
import { type Node, nodeFor } from "./node.ts";
import { skipWithoutPromtool } from "./promtool.ts";

interface Panel {
  readonly gridPos: Readonly<Record<"x" | "y" | "w" | "h", number>>;
}

const installed = "/opt/cni/bin/host-local";

/** The names of all metrics that there are. */
function metricsOf(node: Node): ReadonlySet<string> {
  const { stdout } = node.tool(["metrics"]);
  return new Set(Array.from(stdout.matchAll(/^# TYPE (\S+)/gm), ([, name = ""]) => name));
}

function nodeWithPod(t: Parameters<typeof nodeFor>[0]): Node {
  const node = nodeFor(t);
  node.network("mynet", { subnet: "10.1.2.0/24" });
  node.call("ADD", "mynet", "c1");
  return node;
}

for (const file of ["operator/prometheus-rules.yaml", "operator/grafana-dashboard.json"]) {
  test(`${file}: every metric in it exists`, (t) => {
    const known = metricsOf(nodeWithPod(t));
    const used = new Set(Array.from(readExample(file).matchAll(/cni_ipam_\w+/g), ([name]) => name));

    t.ok(used.size > 3);
    t.same(
      [...used].filter((name) => !known.has(name)),
      [],
    );
    t.end();
  });
}

test("prometheus-rules.yaml: every alert has an expression, a severity and annotations", (t) => {
  const { groups } = parse(readExample("operator/prometheus-rules.yaml"));
  const rules: readonly Record<string, unknown>[] = groups[0].rules;

  t.ok(rules.length > 3);
  for (const rule of rules) {
    t.match(rule, {
      alert: /^[A-Z]\w+$/,
      expr: String,
      labels: { severity: /^(warning|critical)$/ },
      annotations: { summary: String, description: String },
    });
  }
  t.end();
});

test("prometheus-rules.yaml: promtool accepts it", { skip: skipWithoutPromtool }, (t) => {
  const path = inRepository("conf-examples/operator/prometheus-rules.yaml");
  t.match(spawnSync("promtool", ["check", "rules", path]), { status: 0 });
  t.end();
});

test("grafana-dashboard.json: every panel has a query, and none covers another", (t) => {
  const { title, panels } = JSON.parse(readExample("operator/grafana-dashboard.json"));

  t.equal(title, "Pod addresses (host-local)");
  t.equal(new Set(panels.map(({ id }: { id: number }) => id)).size, panels.length);
  t.ok(panels.every(({ targets }: { targets: readonly unknown[] }) => targets.length > 0));
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }: Panel) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`),
  );
  t.equal(new Set(cells).size, cells.length);
  t.end();
});

test("node-problem-detector.json: each rule runs the tool, and its condition is declared", (t) => {
  const monitor = JSON.parse(readExample("operator/node-problem-detector.json"));
  const conditions = monitor.conditions.map(({ type }: { type: string }) => type);
  const node = nodeWithPod(t);

  t.equal(monitor.plugin, "custom");
  t.equal(monitor.pluginConfig.max_output_length, 80);
  for (const rule of monitor.rules) {
    t.equal(rule.path, installed);
    t.ok(conditions.includes(rule.condition));
    t.match(node.tool(rule.args), { exitCode: 0, stdout: /^OK: / });
  }
  t.end();
});

test("host-local-gc.service: its command releases what is dead", (t) => {
  const node = nodeWithPod(t);
  node.age("mynet/10.1.2.2", 3600);
  node.call("ADD", "mynet", "c2");
  const bin = scratchDirectory(t);
  writeFileSync(join(bin, "crictl"), '#!/bin/sh\n[ "$*" = "pods -q" ] && echo c2\n', {
    mode: 0o755,
  });
  const [, line = ""] =
    /^ExecStart=(.*)$/m.exec(readExample("operator/host-local-gc.service")) ?? [];
  const [program, ...words] = Array.from(
    line.matchAll(/"([^"]*)"|(\S+)/g),
    ([, quoted, plain]) => quoted ?? plain ?? "",
  );

  t.equal(program, installed);
  t.match(node.json(words, { environment: { PATH: `${bin}:/usr/bin:/bin` } }), {
    exitCode: 0,
    document: { dryRun: false, networks: [{ network: "mynet", waiting: 1 }] },
  });
  t.end();
});

test("host-local-gc.service and .timer: systemd understands them", {
  skip:
    spawnSync("systemd-analyze", ["--version"]).status === 0 ? false : "There is no systemd here.",
}, (t) => {
  const directory = scratchDirectory(t);
  const units = ["host-local-gc.service", "host-local-gc.timer"].map((file) => {
    const path = join(directory, file);
    // It must find the program.
    writeFileSync(path, readExample(`operator/${file}`).replaceAll(installed, executable));
    return path;
  });

  const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", ...units], {
    encoding: "utf8",
  });

  t.equal(status, 0);
  t.notMatch(stderr, /host-local-gc/);
  t.end();
});
