/** What `check`, `capacity` and `metrics` say of the next ADD is what becomes of it. */

import { test } from "tap";
import type { JsonObject } from "../../../src/cni/json.ts";
import { capacity } from "../../../src/operator/capacity/capacity.ts";
import { check } from "../../../src/operator/check/check.ts";
import { metrics } from "../../../src/operator/metrics/metrics.ts";
import type { Interrupt } from "../../harness/interruption.ts";
import { refuse } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { Network } from "../../harness/network.ts";
import { location } from "../../store/fixtures.ts";
import { configure, findingsOn, type MemoryRun, memoryNode, runOn } from "../memory-node.ts";

const small = { subnet: "10.1.2.0/29" };

/** A node with the network `net`, whose ADD can be called. */
function nodeWith(ipam: JsonObject): { readonly machine: MemoryMachine; readonly net: Network } {
  const machine = memoryNode({});
  configure(machine, "net.conf", {
    ...{ cniVersion: "1.0.0", name: "net", type: "ptp" },
    ipam: { type: "host-local", ...ipam },
  });
  return { machine, net: new Network(machine, { dataDir: "/data", ...ipam }) };
}

/** What `check` finds, without the remedies. */
function found(machine: MemoryMachine, run?: MemoryRun): readonly string[] {
  return findingsOn(machine, run).map(
    ({ severity, code, message }) => `${severity} ${code}: ${message}`,
  );
}

const refusals: readonly (readonly [
  what: string,
  spoil: (machine: MemoryMachine) => Interrupt | undefined,
  words: string,
])[] = [
  [
    "read-only",
    () => refuse("requireWritable", "EROFS"),
    "every ADD fails: access /data/net: read-only file system",
  ],
  [
    "another user's, which root may not write to either",
    () => refuse("requireWritable", "EACCES"),
    "every ADD fails: access /data/net: permission denied",
  ],
  [
    "no directory",
    ({ disk }) => {
      disk.removeAll(location.directory);
      disk.put(location.directory, "");
      return undefined;
    },
    "every ADD fails: mkdir /data/net: not a directory",
  ],
];

for (const [what, spoil, words] of refusals) {
  test(`a data directory that is ${what} is an error, in the words of STATUS, in all three`, async (t) => {
    const { machine, net } = nodeWith(small);
    const interrupt = spoil(machine);

    t.same(found(machine, { interrupt }), [`error add-fails: ${words}`]);
    const { error } = net.status({ interrupt });
    t.equal(error?.code, 50);
    t.equal(`every ADD fails: ${error?.msg}`, words);
    const counted = runOn(machine, capacity, { interrupt });
    t.equal(counted.exitCode, 1);
    t.match(counted.text(), `net: ${words}`);
    const line = /cni_ipam_check_findings\{network="net",severity="error",code="add-fails"\} (\d)/;
    t.equal(line.exec(runOn(machine, metrics, { interrupt }).text())?.[1], "1");
    const options = { "--node-problem-detector": "" };
    t.equal(
      runOn(machine, check, { options, interrupt }).text(),
      "1 error, 0 warnings: add-fails\n",
    );
  });
}

test("what refuses this process alone is no error, such as a unit's own mount", async (t) => {
  const { machine } = nodeWith(small);
  machine.kernel.hasOwnMounts = true;
  machine.disk.makeDirectories(`/proc/1/root${location.directory}`);
  const own = { interrupt: refuse("requireWritable", "EROFS", location.directory) };
  t.same(found(machine, own), [], "the node itself may write there");

  const readOnly = { interrupt: refuse("requireWritable", "EROFS") };
  t.match(found(machine, readOnly), [
    /^info add-unknown: .*read-only file system, for this process/,
  ]);
  t.match(
    runOn(machine, capacity, readOnly).text(),
    /only root of the node can tell whether an ADD works: access/,
  );

  const options = { "--node-problem-detector": "" };
  const line = runOn(machine, check, { ...readOnly, options });
  t.equal(line.exitCode, 2, "neither OK nor a problem");
  t.match(line.text(), /^cannot tell: net: whether an ADD works cannot be told: .{1,30}\n$/);
  t.equal(runOn(machine, check, readOnly).exitCode, 0);

  machine.kernel.overridesPermissions = false;
  const refused = { interrupt: refuse("requireWritable", "EACCES") };
  t.match(found(machine, refused), [/^info add-unknown: .*permission denied, for this process/]);
  const unseen = { interrupt: refuse("linkStatus", "EACCES", `${location.directory}/10.1.2.2`) };
  t.match(found(machine, unseen), [/^info add-unknown: .*10.1.2.2: permission denied$/]);
});

/** Fills the range with pods, whose namespaces are there. */
function fill(machine: MemoryMachine, net: Network): void {
  for (const id of ["c2", "c3", "c4", "c5", "c6"]) {
    const netns = `/run/netns/${id}`;
    machine.namespaces.set(netns, BigInt(`403${id.slice(1)}`));
    const cniArgs = `IgnoreUnknown=1;K8S_POD_INFRA_CONTAINER_ID=${id}`;
    t0(net.add(id, { netns, cniArgs }).exitCode);
  }
  machine.wait(3_600_000);
}

function t0(exitCode: number | undefined): void {
  if (exitCode !== 0) throw new Error("an ADD failed");
}

test("in a full range, what the next ADD takes of dead pods counts as free, and is said", async (t) => {
  const { machine, net } = nodeWith(small);
  fill(machine, net);
  t.match(
    found(machine).filter((one) => one.includes("range-full")),
    [
      "warning range-full: 5 of 5 addresses of 10.1.2.1-10.1.2.6 are in use: the next pod gets none",
    ],
  );
  const options = { "--node-problem-detector": "" };
  const condition = () => runOn(machine, check, { options });
  t.equal(condition().exitCode, 0, "a node may be full by design");
  t.match(condition().text(), /^OK: /);
  t.equal(runOn(machine, capacity).exitCode, 1);
  t.match(net.add("c7").error?.msg, "no IP addresses available");
  t.equal(condition().text(), "1 error, 0 warnings: calls-fail\n");

  machine.namespaces.delete("/run/netns/c4");

  t.same(
    found(machine).filter((one) => one.includes("range-full")),
    [],
  );
  const counted = runOn(machine, capacity);
  t.equal(counted.exitCode, 0);
  t.match(counted.text(), "net: FREE includes 1 that ADD takes if no other is free: of dead pods,");
  t.match(counted.document(), { networks: [{ reclaimable: 1, ranges: [{ used: 4n, free: 1n }] }] });
  t.match(runOn(machine, metrics).text(), /cni_ipam_addresses_used\{.*\} 4\n/);
  t.same(net.add("c7").addresses, ["10.1.2.4"]);
});

test("an old empty file in a full range is what the next ADD takes, and counts as free", async (t) => {
  const { machine, net } = nodeWith(small);
  fill(machine, net);
  machine.disk.put(`${location.directory}/10.1.2.3`, "");
  machine.wait(60_000);
  t.match(runOn(machine, capacity).text(), "FREE includes 1 that ADD takes");
  t.same(
    found(machine).filter((one) => one.includes("range-full")),
    [],
  );
  t.same(net.add("c7").addresses, ["10.1.2.3"]);
});

test("what cannot be read of dead pods is said, and a full range is not called lost", async (t) => {
  const { machine, net } = nodeWith(small);
  fill(machine, net);
  machine.namespaces.clear();
  const interrupt = refuse("findLines", "EACCES");
  const text = runOn(machine, capacity, { interrupt }).text();
  t.match(text, "range set 0 has no free address: the next pod may fail. To");
  t.match(text, "net: which addresses dead pods hold cannot be read: run as root.");
});

test("a range without any address is not full, but an error in the words of ADD", async (t) => {
  for (const [ipam, advice] of [
    [{ ...small, rangeEnd: "10.1.2.1" }, "the range has no address but the gateway's; correct it"],
    [
      { ...small, exclude: ["10.1.2.0/29"] },
      "ipam.exclude leaves no address to hand out; correct it",
    ],
  ] as const) {
    const { machine, net } = nodeWith(ipam);
    const { error } = net.add("c1");
    const words = `${error?.msg}; ${error?.details}`.replace(
      "failed to allocate for range 0: ",
      "",
    );
    t.ok(words.endsWith(advice), advice);
    t.match(found(machine), [/^error calls-fail: /]);
    machine.disk.removeAll("/run/host-local");
    t.match(found(machine), [`error add-fails: every ADD fails: ${words}`]);
    t.match(
      runOn(machine, capacity).text(),
      "net: range set 0 has no address for any pod: correct",
    );
    t.notMatch(runOn(machine, capacity).text(), "host-local gc");
  }
});
