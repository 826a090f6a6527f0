/** What is measured of the containers of a network, by `gc` and by `check`; its addresses: metrics.test.ts. */

import { readFileSync } from "node:fs";
import { test } from "tap";
import { gc } from "../../../src/operator/gc/gc.ts";
import type { Metric, Sample } from "../../../src/operator/metrics/exposition.ts";
import { metrics } from "../../../src/operator/metrics/metrics.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { inRepository } from "../../harness/repository.ts";
import { location } from "../../store/fixtures.ts";
import {
  configureNet,
  contextOf,
  memoryNode,
  places,
  remember,
  startOperator,
} from "../memory-node.ts";

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

test("reservations that gc found dead are counted until they are released", async (t) => {
  const machine = nodeWith("c1", "c2", "c3");
  collect(machine, "c3\n");
  t.strictSame(valuesOf(machine, "reservations_dead"), [2]);
  machine.disk.unlink(`${location.directory}/10.0.0.3`);
  t.strictSame(valuesOf(machine, "reservations_dead"), [1]);

  remember(machine, "c1", { netns: "/run/netns/c1" });
  machine.namespaces.set("/run/netns/c1", 70n);
  t.strictSame(valuesOf(machine, "reservations_dead"), [], "it lives, and c3 may be dead");
});

test("where nothing shows whether a container is alive, there is no sample rather than 0", async (t) => {
  const machine = nodeWith("c1", "c2");
  remember(machine, "c1", { netns: "/run/netns/c1" });
  machine.namespaces.set("/run/netns/c1", 70n);
  t.strictSame(valuesOf(machine, "reservations_dead"), [], "c2 may be dead");

  machine.disk.unlink(`${location.directory}/10.0.0.3`);
  t.strictSame(valuesOf(machine, "reservations_dead"), [0]);
});

test("reservations whose network namespace is gone count as dead without a run of gc", async (t) => {
  const machine = nodeWith("c1", "c2", "c3");
  machine.kernel.seesProcesses = true;
  machine.namespaces.set("/run/netns/c1", 70n);
  for (const id of ["c1", "c2", "c3"]) remember(machine, id, { netns: `/run/netns/${id}` });
  t.strictSame(valuesOf(machine, "reservations_dead"), [2]);
});

test("the last run of gc is its last one with --yes that was not refused", async (t) => {
  const machine = nodeWith("c1");
  const lastRun = () => valuesOf(machine, "gc_last_run_timestamp_seconds");
  collect(machine, "c1\n");
  t.strictSame(lastRun(), [], "a dry run collects nothing");
  collect(machine, "", { "--yes": "" });
  t.strictSame(lastRun(), [], "an empty list is refused");

  collect(machine, "c1\n", { "--yes": "" });
  t.strictSame(lastRun(), [machine.time / 1000]);
  t.strictSame(valuesOf(machine, "reservations_dead"), [0], "what it did not find dead is alive");
});

test("findings are counted by their codes, with 0 of a severity that a network has none of", async (t) => {
  const machine = nodeWith("c1");
  machine.disk.put(`${location.directory}/10.0.0.9`, "kept for the printer");
  machine.disk.put(`${location.directory}/10.9.9.9`, "c1\r\neth0");
  machine.disk.put("/data/old/lock", "");
  machine.disk.put("/conf/bad.conf", "{");

  t.strictSame(
    samplesOf(machine, "check_findings").map(
      ({ labels: { network = "-", severity, code = "-" }, value }) =>
        `${network} ${severity} ${code} ${value}`,
    ),
    [
      ...["- error unreadable-configuration 1", "- warning - 0", "- info - 0"],
      ...["net error - 0", "net warning malformed-reservation 1", "net warning out-of-range 1"],
      "net info leaks-unknown 1",
      ...["old error - 0", "old warning - 0", "old info - 0"],
    ],
  );
  const networksOf = (name: string) => samplesOf(machine, name).map(({ labels }) => labels.network);
  t.strictSame(networksOf("reservations"), ["net", "old"]);
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
  t.ok(names.length > 10);
  for (const name of names) t.match(page, `\`${name}\``);
});
