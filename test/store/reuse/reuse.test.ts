import { test } from "tap";
import { formatAddress } from "../../../src/ipam/address.ts";
import type { Reuse } from "../../../src/ipam/config.ts";
import {
  NO_PREFERENCES,
  type Preferences,
  ReusedAddresses,
} from "../../../src/store/reuse/reuse.ts";
import type { MemoryMachine, MemoryProcess } from "../../harness/memory-machine.ts";
import { address } from "../../ipam/parsed.ts";
import { location, machineWith, open, podOwner } from "../fixtures.ts";

const FILE = `${location.stateDirectory}/reuse`;
/** Addresses are kept for a minute; by what, the caller knows. */
const kept = { by: [], seconds: 60 };
const neither: Reuse = { delay: 0, sticky: undefined };
const delay: Reuse = { delay: 30, sticky: undefined };
const sticky: Reuse = { delay: 0, sticky: kept };
const both: Reuse = { delay: 30, sticky: kept };

/** Does something with a network's addresses as one call. */
function call<T>(
  process: MemoryProcess,
  reuse: Reuse | undefined,
  body: (reused: ReusedAddresses) => T,
): T {
  const reused = new ReusedAddresses(open(process), reuse);
  const result = body(reused);
  reused.close();
  return result;
}

function reserve(machine: MemoryMachine, reuse: Reuse, pod: string, name: string): void {
  call(machine.start(), reuse, (reused) => reused.reserved(podOwner(pod), [address(name)]));
}

function release(machine: MemoryMachine, reuse: Reuse | undefined, ...names: string[]): void {
  call(machine.start(), reuse, (reused) => reused.released(...names));
}

/** Preferences as text. */
function shown({ own, avoided }: Preferences): readonly [readonly string[], object] {
  return [own.map(formatAddress), Object.fromEntries(avoided)];
}

function preferences(
  machine: MemoryMachine,
  reuse: Reuse | undefined,
  pod?: string,
): readonly [own: readonly string[], avoided: object] {
  const of = pod === undefined ? undefined : podOwner(pod);
  return shown(call(machine.start(), reuse, (reused) => reused.preferencesFor(of)));
}

test("the delay is what conntrack says and ten seconds, or 130 seconds where that cannot be read", async (t) => {
  const file = "/proc/sys/net/netfilter/nf_conntrack_tcp_timeout_syn_sent";
  const conntrack: Reuse = { delay: "conntrack", sticky: undefined };
  for (const [content, seconds] of [
    ["60\n", 70],
    [undefined, 130],
    ["-1\n", 130],
    ["60 s\n", 130],
  ] as const) {
    const machine = machineWith({});
    if (content !== undefined) machine.disk.put(file, content);
    release(machine, conntrack, "10.1.2.3");
    machine.wait(seconds * 1000 - 1);
    t.same(preferences(machine, conntrack)[1], { "10.1.2.3": seconds * 1000 - 1 });
    machine.wait(1);
    t.same(preferences(machine, conntrack)[1], {});
  }
});

test("preferencesFor asks for none, and reads nothing, where the configuration does not", async (t) => {
  const machine = machineWith();
  reserve(machine, both, "web-0", "10.0.0.2");
  release(machine, both, "10.0.0.2");
  for (const reuse of [neither, undefined]) {
    const process = machine.start();
    const reused = new ReusedAddresses(open(process), reuse);
    t.equal(reused.preferencesFor(podOwner("web-0")), NO_PREFERENCES);
    t.equal(reused.isAsked, false);
    t.notOk(process.calls.some(({ operation }) => operation === "readFile"));
  }
});

test("preferencesFor counts the age of a record from zero if the clock ran backwards", async (t) => {
  const machine = machineWith();
  reserve(machine, sticky, "web-0", "10.0.0.2");
  machine.time -= 5000;

  t.same(preferences(machine, sticky), [[], { "10.0.0.2": 0 }]);
});

test("preferencesFor takes what was released just now for remembered, and for avoided", async (t) => {
  const machine = machineWith();
  reserve(machine, sticky, "web-0", "10.0.0.2");
  machine.wait(60_000);
  t.same(preferences(machine, sticky, "web-0"), [[], {}]);

  for (const [reuse, avoided] of [
    [sticky, {}],
    [both, { "10.0.0.2": 0, "10.0.0.3": 0 }],
  ] as const) {
    const reused = new ReusedAddresses(open(machine.start()), reuse);
    reused.released("10.0.0.2", "10.0.0.3");
    t.same(shown(reused.preferencesFor(podOwner("web-0"))), [["10.0.0.2"], avoided]);
  }
});

test("close notes only what the configuration needs", async (t) => {
  for (const [reuse, files] of [
    [neither, []],
    [delay, ["reuse"]],
    [sticky, ["reuse"]],
    [both, ["reuse"]],
  ] as const) {
    const machine = machineWith();
    call(machine.start(), reuse, (reused) => {
      reused.released("10.0.0.2");
      reused.reserved(podOwner("web-0"), [address("10.0.0.3")]);
    });
    t.same(Object.keys(machine.disk.filesUnder(location.stateDirectory)), files);
    const process = machine.start();
    call(process, reuse, () => undefined);
    t.notOk(process.calls.some(({ operation }) => operation === "readFile"));
  }
});

test("close forgets what has lasted its time, and notes no release if addresses are only sticky", async (t) => {
  const machine = machineWith();
  reserve(machine, sticky, "web-0", "10.0.0.2");
  machine.wait(61_000);
  reserve(machine, sticky, "web-1", "10.0.0.3");
  release(machine, sticky, "10.0.0.9");
  const text = machine.disk.readFile(FILE, 1000);
  t.match(text, "10.0.0.3 ");
  t.notMatch(text, "10.0.0.2 ");
  t.notMatch(text, "10.0.0.9 ");
});

test("close goes on as the last call noted where the configuration is not known", async (t) => {
  const machine = machineWith();
  release(machine, undefined, "10.0.0.2");
  t.same(machine.disk.filesUnder(location.stateDirectory), {});

  reserve(machine, both, "web-0", "10.0.0.2");
  release(machine, both, "10.0.0.4");
  machine.wait(10_000);
  release(machine, undefined, "10.0.0.2", "10.0.0.5");

  t.same(preferences(machine, both), [[], { "10.0.0.2": 0, "10.0.0.4": 10_000, "10.0.0.5": 0 }]);
  t.match(machine.disk.readFile(FILE, 1000), `10.0.0.2 ${machine.time} `);
});

test("an address cools down whatever the spelling of its file's name", async (t) => {
  const machine = machineWith();
  release(machine, delay, "FD00::3");
  t.strictSame(preferences(machine, delay), [[], { "fd00::3": 0 }]);
  call(machine.start(), delay, (reused) => {
    reused.released("FD00:0::4");
    t.ok(reused.preferencesFor(undefined).avoided.has("fd00::4"), "also in the same call");
  });
});
