/** What `check`, `metrics` and node-problem-detector's line say of calls that fail now: that, first and once. */

import { test } from "tap";
import { check } from "../../../src/operator/check/check.ts";
import { metrics } from "../../../src/operator/metrics/metrics.ts";
import { networks } from "../../../src/operator/networks/networks.ts";
import type { CallRecord } from "../../../src/store/failed-calls/failed-call.ts";
import { formatCall } from "../../../src/store/failed-calls/failed-call.ts";
import { refuse } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { Network } from "../../harness/network.ts";
import { location } from "../../store/fixtures.ts";
import { configure, findingsOn, type MemoryRun, memoryNode, runOn } from "../memory-node.ts";

const KEPT = "/run/host-local/failed-calls";

/** A node with the network `net`, an hour after its first ADD. */
function nodeWith(more: object = {}): { readonly machine: MemoryMachine; readonly net: Network } {
  const machine = memoryNode({});
  const ipam = { dataDir: "/data", subnet: "10.1.2.0/24", ...more };
  configure(machine, "net.conf", {
    ...{ cniVersion: "1.0.0", name: "net", type: "ptp" },
    ipam: { type: "host-local", ...ipam },
  });
  const net = new Network(machine, ipam);
  machine.wait(3_600_000);
  return { machine, net };
}

const error = {
  code: 999,
  message: "no space left on device",
  details: "write /data/net/10.1.2.2",
};

/** Writes records, each of so many seconds ago. */
function keep(machine: MemoryMachine, ...records: readonly (Partial<CallRecord> & Ago)[]): void {
  const lines = records.map(({ ago, ...record }) => {
    const time = machine.time - ago * 1000;
    const common = { verb: "ADD", network: "net", dataDir: "/data", container: "c1" } as const;
    const call = { ...common, interfaceName: "eth0", pod: "", time, kind: "failed", ...error };
    return formatCall({ ...call, ...record } as CallRecord);
  });
  machine.disk.put(KEPT, lines.join(""));
}

interface Ago {
  readonly ago: number;
}

function found(machine: MemoryMachine, run?: MemoryRun): readonly string[] {
  return findingsOn(machine, run).map(
    ({ severity, code, message }) => `${severity} ${code}: ${message}`,
  );
}

test("an ADD that fails is the first that is said, with its own error, until one succeeds", async (t) => {
  const { machine, net } = nodeWith();
  machine.disk.put("/conf/other.conf", "{");
  keep(machine, { ago: 400 }, { ago: 200 }, { ago: 12 });
  const since = new Date(machine.time - 400_000).toISOString().slice(0, 19);
  const message = `ADD fails since ${since}Z, 3 times, the last time 12s ago: no space left on device; write /data/net/10.1.2.2`;
  t.equal(found(machine)[0], `error calls-fail: ${message}`);
  t.match(found(machine)[1], /^error unreadable-configuration/);
  t.match(findingsOn(machine)[0], { network: "net", path: "/conf/net.conf" });
  const options = { "--node-problem-detector": "" };
  t.match(runOn(machine, check, { options }).text(), /^2 errors, 0 warnings: calls-fail, /);
  const text = runOn(machine, metrics).text();
  const labels = 'network="net",data_dir="/data",verb="ADD",code="999"';
  const last = Math.floor(machine.time / 1000) - 12;
  t.match(text, `cni_ipam_last_failed_call_timestamp_seconds{${labels}} ${last}\n`);
  t.match(text, 'cni_ipam_check_findings{network="net",severity="error",code="calls-fail"} 1\n');

  net.add("c2");
  machine.wait(2000);
  t.notMatch(found(machine).join(), "calls-fail");

  net.del("c2");
  t.notMatch(found(machine).join(), "calls-fail", "the cursor has the date");
});

test("one pod that asks for what it cannot get is a warning, several are an error", async (t) => {
  const { machine } = nodeWith();
  const asked = { message: "10.9.9.9 not in range set 10.1.2.1-10.1.2.254", details: "" };
  const db = { ...asked, pod: "default/db" };
  keep(machine, { ago: 400, ...db, container: "c1" }, { ago: 12, ...db, container: "c2" });
  const [finding] = findingsOn(machine);
  t.match(finding, {
    code: "calls-fail",
    severity: "warning",
    remedy: /see what this pod asks for/,
  });
  t.match(
    finding?.message,
    /^ADD fails since .*, 2 times, the last time 12s ago, of default\/db alone, whose request may be the cause: 10\.9\.9\.9 not in/,
  );
  const text = runOn(machine, metrics).text();
  t.match(text, 'cni_ipam_check_findings{network="net",severity="warning",code="calls-fail"} 1\n');
  t.notMatch(text, 'severity="error"');

  keep(machine, { ago: 12, ...asked });
  t.match(
    found(machine)[0],
    /^warning calls-fail: the last ADD failed, 12s ago, of container c1 alone, /,
  );
  keep(machine, { ago: 30, ...db }, { ago: 12, ...asked, container: "c3" });
  t.match(found(machine)[0], /^error calls-fail: ADD fails since .*, the last time 12s ago: 10\.9/);
  keep(machine, { ago: 12, ...db, network: "other" });
  t.match(found(machine)[0], /^error calls-fail: /, "nothing is known of the network");
});

test("an ADD that fails in its second range set has not succeeded in the first", async (t) => {
  const ranges = [[{ subnet: "10.1.2.0/24" }], [{ subnet: "fd00::/126" }]];
  const machine = memoryNode({});
  const ipam = { dataDir: "/data", ranges };
  const document = { cniVersion: "1.0.0", name: "net", type: "ptp" };
  configure(machine, "net.conf", { ...document, ipam: { type: "host-local", ...ipam } });
  const net = new Network(machine, ipam);
  for (const id of ["c1", "c2"]) t.equal(net.add(id).exitCode, 0);
  machine.wait(60_000);
  for (const id of ["c3", "c4", "c5"]) {
    t.match(net.add(id).error?.msg, "fd00::");
    machine.wait(60_000);
  }
  t.match(
    found(machine)[0],
    /^error calls-fail: ADD fails since .*, 3 times, the last time 60s ago: failed to allocate for range 1/,
  );
  const lastAdd = new Date(machine.time - 240_000).toISOString();
  t.match(runOn(machine, networks).document(), { networks: [{ lastAdd }] });
});

test("the dry run does not say again what has failed already", async (t) => {
  const { machine } = nodeWith({ resolvConf: "/run/resolv.conf" });
  const [reason = ""] = found(machine).flatMap(
    (one) => one.split("error add-fails: every ADD fails: ")[1] ?? [],
  );
  const [message = "", details = ""] = reason.split("; ");
  keep(machine, { ago: 12, message, details });
  t.same(found(machine), [`error calls-fail: the last ADD failed, 12s ago: ${reason}`]);

  keep(machine, { ago: 12 });
  t.match(found(machine), [/^error calls-fail: /, /^error add-fails: /], "for another reason");
  t.match(findingsOn(machine)[0]?.remedy, "the page 'Troubleshooting and operation'");

  keep(machine, { ago: 12, message: "write /data/net/x: no space left on device", details: "" });
  const full = { interrupt: refuse("requireWritable", "ENOSPC") };
  t.match(found(machine, full), [/^error calls-fail: .* no space left on device$/]);
});

test("a DEL that fails is a warning while its container has the address", async (t) => {
  const { machine, net } = nodeWith();
  net.add("c1");
  machine.wait(60_000);
  keep(machine, { ago: 30, verb: "DEL" });
  t.match(
    found(machine)[0],
    /^warning calls-fail: the last DEL failed, 30s ago, of container c1: no space left/,
  );
  t.match(findingsOn(machine)[0]?.remedy, "'A DEL fails'");

  net.del("c1");
  t.notMatch(found(machine).join(), "calls-fail");
});

test("pods that give their addresses back are told of, until one keeps its own", async (t) => {
  const { machine, net } = nodeWith();
  const record = { kind: "returned", verb: "DEL", after: 200 } as const;
  keep(machine, ...[25, 15, 5].map((ago) => ({ ...record, ago })));
  t.equal(
    found(machine)[0],
    "warning addresses-given-back: the last 3 pods gave the address back within a second, the last one 5s ago: a plugin after this one, or the runtime, fails",
  );

  net.add("c1");
  machine.wait(2000);
  t.notMatch(found(machine).join(), "given-back");
});

test("who holds the lock now is said, if the error was that somebody did", async (t) => {
  const { machine, net } = nodeWith();
  net.add("c1");
  machine.wait(60_000);
  const locked = { code: 11, message: "network net is locked; gave up after 30 s" };
  const inode = machine.start().status(location.lockFile).inode;
  machine.disk.put("/proc/4711/cmdline", "/usr/bin/flock\0-x\0");
  const hold = (id: string): void =>
    machine.disk.put("/proc/locks", `1: FLOCK  ADVISORY  WRITE ${id} 00:16:${inode} 0 EOF\n`);
  const details = "/data/net/lock is held by process 4711 (flock)";

  hold("4711");
  keep(machine, { ago: 5, ...locked, details });
  t.match(found(machine)[0], /held by process 4711 \(flock\); it still holds it$/);
  keep(machine, { ago: 5, ...locked, details: "held by another process" });
  t.match(found(machine)[0], /by another process; process 4711 \(flock\) holds it now$/);
  machine.disk.put("/proc/locks", "");
  t.match(found(machine)[0], /by another process; no process is seen that holds it now$/);
});

test("a call that could not read its configuration is of no network, until any ADD succeeds", async (t) => {
  const { machine, net } = nodeWith();
  keep(machine, { ago: 5, network: "", dataDir: "" });
  t.match(findingsOn(machine)[0], { code: "calls-fail", network: "", path: "" });
  const text = runOn(machine, metrics).text();
  const last = Math.floor(machine.time / 1000) - 5;
  const sample = `cni_ipam_last_failed_call_timestamp_seconds{verb="ADD",code="999"} ${last}\n`;
  t.match(text, sample);
  t.match(runOn(machine, check, { operands: ["net"] }).text(), "calls-fail");

  net.add("c1");
  t.notMatch(found(machine).join(), "calls-fail");
});

test("what is not seen of calls is not the same as none", async (t) => {
  const { machine } = nodeWith();
  keep(machine, { ago: 5 });
  const unread = { interrupt: refuse("readFile", "EACCES", KEPT) };
  t.match(found(machine, unread), [
    /^info add-unknown: which calls fail cannot be told: .*denied$/,
  ]);
  const options = { "--node-problem-detector": "" };
  const line = runOn(machine, check, { ...unread, options });
  t.match(line.text(), /^cannot tell: which calls fail cannot be told: /);
  t.equal(line.exitCode, 2);
  t.notMatch(runOn(machine, metrics, unread).text(), "last_failed_call");

  machine.disk.removeAll("/run/host-local");
  t.same(found(machine), [], "nothing has failed");
  machine.kernel.seesFirstProcess = false;
  t.match(found(machine), [
    /^info add-unknown: .*: there is no \/run\/host-local in this container$/,
  ]);
});

test("a container with processes of its own does not see the calls of the node without its /run", async (t) => {
  const { machine } = nodeWith();
  machine.disk.removeAll("/run/host-local");
  const own = { interrupt: refuse("readLink", "ENOENT", "/proc/self/ns/pid") };
  t.match(found(machine, own), [
    /^info add-unknown: .*: there is no \/run\/host-local in this container$/,
  ]);
  machine.disk.makeDirectories("/run/systemd/system");
  t.same(found(machine, own), [], "a node that is a container");
  machine.disk.removeAll("/run/systemd");
  machine.disk.makeDirectories("/run/host-local");
  t.same(found(machine, own), [], "the directory is mounted");
});

test("of a range that is full it does not tell to run check, which tells more", async (t) => {
  const { machine, net } = nodeWith({ subnet: "10.1.2.0/30" });
  const [traceparent, trace] = [
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "4bf92f",
  ];
  net.add("c1");
  t.match(net.add("c2", { traceparent }).error?.details, "Next: run `host-local check net");
  const [finding, full] = findingsOn(machine);
  t.match(finding, {
    code: "calls-fail",
    message: new RegExp(`address in use; reservations are in /data/net; trace ${trace}`),
    remedy: /^see what else is found on this network\. gc lists the addresses of dead/,
  });
  t.match(full, { code: "range-full" });
});
