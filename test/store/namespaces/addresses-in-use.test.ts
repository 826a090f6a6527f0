/** The addresses in the network namespaces of a node. */

import { test } from "tap";
import { AddressesInUse } from "../../../src/store/namespaces/addresses-in-use.ts";
import { SystemError } from "../../../src/system/system.ts";
import { NODE_NAMESPACE, systemOf } from "../../harness/proc.ts";
import { refusing } from "./refusing.ts";

const pod = { namespace: 70, addresses: ["10.7.75.2"] };
const path = "/run/netns/pod";

test("why a namespace cannot be entered is said, unless it is unmounted meanwhile", async (t) => {
  const system = systemOf({ mounted: { [path]: 71 } });
  for (const [code, reason] of [
    ["ENOENT", `${path} has no table of addresses`],
    ["EIO", `${path} cannot be entered: setns ${path}: input/output error`],
  ] as const) {
    const readFileIn = (at: string): never => {
      throw new SystemError("setns", at, code);
    };
    t.equal(new AddressesInUse({ ...system, readFileIn }).incomplete, reason);
    let looks = 0;
    const linesWith: typeof system.linesWith = (at, text) =>
      at === "/proc/self/mountinfo" && ++looks > 1 ? [] : system.linesWith(at, text);
    t.equal(new AddressesInUse({ ...system, readFileIn, linesWith }).incomplete, undefined);
  }
});

test("of several processes the first is named, whatever the order of the directory", async (t) => {
  const processes = { 9: pod, 10: pod, 11: { ...pod, namespace: 71 } };
  const system = systemOf({ processes });
  const orders = [
    system,
    { ...system, list: (at: string) => system.list(at).toReversed() },
    { ...system, list: (at: string) => system.list(at).toSorted() },
  ];
  for (const one of orders) {
    const found = new AddressesInUse(one).withAddress("10.7.75.2");
    t.same(
      found.map(({ processId }) => processId),
      [9, 11],
    );
  }
});

test("a namespace is busy if it has another interface than lo", async (t) => {
  const namespaces = new AddressesInUse(
    systemOf({ processes: { 7: pod, 8: { namespace: 71 } }, mounted: { [path]: 72 } }),
  );
  t.same(
    namespaces.all.map((one) => [one.id, one.processId, one.hasInterface()]),
    [
      ["net:[70]", 7, true],
      ["net:[71]", 8, false],
      ["net:[72]", undefined, false],
    ],
  );
  const system = systemOf({ processes: { 8: { namespace: 71 } } });
  const [unread] = new AddressesInUse(refusing(system, ["readFile"], /\/8\/net\/dev$/, "EIO")).all;
  t.equal(unread?.hasInterface(), true, "or may have");
});

test("what may be missing is said", async (t) => {
  const mounted = { [path]: 71 };
  for (const [machine, reason] of [
    [{}, undefined],
    [{ isContained: true }, "the processes of the node are not seen from here"],
    [{ mounted, isConfined: true }, `${path} cannot be entered, which takes CAP_SYS_ADMIN`],
    [{ mounted, covered: [path] }, `${path} is covered by another mount`],
    [{ mounted: { ...mounted, "/run/netns/again": 71 }, covered: [path] }, undefined],
    [{ mounted: { [path]: NODE_NAMESPACE }, isConfined: true }, undefined],
    [{ mounted, processes: { 7: { namespace: 71 } }, isConfined: true }, undefined],
  ] as const) {
    t.equal(new AddressesInUse(systemOf(machine)).incomplete, reason, JSON.stringify(machine));
  }
  const unlisted = refusing(systemOf({}), ["linesWith"], /mountinfo$/, "EACCES");
  t.match(
    new AddressesInUse(unlisted).incomplete,
    /^the mounts of the node are not seen from here/,
  );
});

test("each namespace is found once, by whoever may inspect processes or only their tables", async (t) => {
  // The first thread of 7 has ended.
  const machine = { processes: { 7: pod, 8: pod }, zombies: { 7: 9 } };
  for (const [isUnprivileged, id, paths] of [
    [false, "net:[70]", ["/proc/7/task/9/ns/net"]],
    [true, undefined, ["/proc/7/task/9/ns/net"]],
  ] as const) {
    const namespaces = new AddressesInUse(systemOf({ ...machine, isUnprivileged }));
    t.same(
      namespaces.all.map((one) => [one.id, one.path]),
      paths.map((one) => [id, one]),
    );
    t.ok(namespaces.nodeAddresses.has("192.0.2.1"));
  }
});

test("a namespace whose tables cannot be read is told once, however many processes it has", async (t) => {
  const { all, incomplete } = new AddressesInUse(
    systemOf({ processes: { 7: pod, 8: pod }, unreadable: [7] }),
  );
  t.same(all, []);
  t.match(incomplete, "open /proc/7/net/if_inet6: file too large");
});

test("a namespace whose processes have ended is entered where it is mounted, or not known", async (t) => {
  const machine = {
    processes: { 7: pod },
    mounted: { [path]: 70 },
    addresses: { 70: ["10.7.75.2"] },
  };
  const ended = refusing(systemOf(machine), ["readFile"], /^\/proc\/7\/net\//, "ESRCH");
  const { all, incomplete } = new AddressesInUse(ended);
  t.same([all.map((one) => one.path), incomplete], [[path], undefined]);

  const alone = refusing(systemOf({ processes: { 7: pod } }), ["readFile"], /\/7\/net\//, "ESRCH");
  t.match(new AddressesInUse(alone).incomplete, "net:[70] has other processes by now");
  let lists = 0;
  const list: typeof alone.list = (at) =>
    alone.list(at).filter((name) => at !== "/proc" || name !== "7" || ++lists <= 2);
  t.equal(new AddressesInUse({ ...alone, list }).incomplete, undefined, "it is gone");
});
