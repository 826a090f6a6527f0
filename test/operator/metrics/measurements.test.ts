/** What is measured of a network by `gc` and by `check`; its addresses: metrics.test.ts. */

import { readFileSync } from "node:fs";
import { test } from "tap";
import { gc } from "../../../src/operator/gc/gc.ts";
import type { Metric, Sample } from "../../../src/operator/metrics/exposition.ts";
import { metrics } from "../../../src/operator/metrics/metrics.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { inRepository } from "../../harness/repository.ts";
import { location } from "../../store/fixtures.ts";
import { configureNet, contextOf, memoryNode, places, startOperator } from "../memory-node.ts";

function measured(machine: MemoryMachine): readonly Metric[] {
  const document = metrics.run(contextOf(startOperator(machine).system, places)).document();
  return (document as { readonly metrics: readonly Metric[] }).metrics;
}

function samplesOf(machine: MemoryMachine, name: string): readonly Sample[] {
  return measured(machine).find((one) => one.name === `cni_ipam_${name}`)?.samples ?? [];
}

/** The values of a metric of the networks, of which here there is one. */
function valuesOf(machine: MemoryMachine, name: string): readonly unknown[] {
  return samplesOf(machine, name).map(({ value }) => value);
}

/** A node on which these containers have addresses since an hour; nothing shows whether they live. */
function nodeWith(...containers: readonly string[]): MemoryMachine {
  const files = containers.map((id, at) => [`10.0.0.${at + 2}`, `${id}\r\neth0`] as const);
  const machine = memoryNode(Object.fromEntries(files));
  configureNet(machine, "10.0.0.0/24");
  machine.kernel.seesProcesses = false;
  machine.wait(3_600_000);
  return machine;
}

function collect(
  machine: MemoryMachine,
  live: string,
  options: Readonly<Record<string, string>> = {},
): void {
  machine.disk.put("/live", live);
  const given = { ...places, "--live": "/live", "--grace": "0s", ...options };
  gc.run(contextOf(startOperator(machine).system, given)).document();
}

test("the last run of gc is its last one with --yes that was not refused", async (t) => {
  const machine = nodeWith("c1");
  const lastRun = () => valuesOf(machine, "gc_last_run_timestamp_seconds");
  collect(machine, "c1\n");
  t.strictSame(lastRun(), [], "a dry run collects nothing");
  collect(machine, "", { "--yes": "" });
  t.strictSame(lastRun(), [], "an empty list is refused");

  collect(machine, "c1\n", { "--yes": "" });
  t.strictSame(lastRun(), [machine.time / 1000]);
});

test("findings are counted by their networks, severities and codes", async (t) => {
  const machine = nodeWith("c1");
  machine.disk.put(`${location.directory}/10.0.0.9`, "kept for the printer");
  machine.disk.put(`${location.directory}/10.9.9.9`, "c1\r\neth0");
  machine.disk.put("/conf/bad.conf", "{");

  t.strictSame(
    samplesOf(machine, "check_findings").map(
      ({ labels: { network = "-", severity, code }, value }) =>
        `${network} ${severity} ${code} ${value}`,
    ),
    [
      "- error unreadable-configuration 1",
      "net warning malformed-reservation 1",
      "net warning out-of-range 1",
      "net info leaks-unknown 1",
    ],
  );
});

test("a range that two configurations name is measured once", async (t) => {
  const machine = nodeWith();
  const ranges = [[{ subnet: "10.0.0.0/24" }, { subnet: "10.9.0.0/29" }]];
  const plugins = [{ type: "ptp", ipam: { type: "host-local", ranges } }];
  machine.disk.put("/conf/z.conflist", JSON.stringify({ name: "net", plugins }));
  t.strictSame(valuesOf(machine, "addresses_capacity"), [253n, 5n]);
});

test("docs/metrics.md describes every metric", async (t) => {
  const page = readFileSync(inRepository("docs/metrics.md"), "utf8");
  const names = measured(nodeWith()).map(({ name }) => name.replace("cni_ipam_", ""));
  t.equal(names.length, 6);
  for (const name of names) t.match(page, `\`${name}\``);
});
