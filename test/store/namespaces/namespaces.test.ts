/** What is seen of the network namespaces of a node, and what became of the one at a path. */

import { test } from "tap";
import {
  isLocal,
  Namespaces,
  type PathState,
  processIn,
} from "../../../src/store/namespaces/namespaces.ts";
import { SystemError } from "../../../src/system/system.ts";
import { type Machine, NODE_NAMESPACE, systemOf } from "../../operator/node/proc.ts";
import { refusing } from "./refusing.ts";

const pod = { namespace: 70, addresses: ["10.7.75.2"] };
const path = "/run/netns/pod";
const mounted = { [path]: 70 };
const ofProcess = "/proc/7/ns/net";

const exists: PathState = { kind: "exists", id: "net:[70]" };
const gone: PathState = { kind: "gone" };
const unseen: PathState = { kind: "unseen" };

/** A container, which has the directory of namespaces of the node, or has not. */
const alone = { isContained: true };
const sharing = { isContained: true, shared: ["/run/netns"] };

const states: readonly (readonly [
  what: string,
  machine: Machine,
  path: string,
  state: PathState,
])[] = [
  ["it is mounted", { mounted }, path, exists],
  ["it is named by the link /var/run", { mounted }, "/var/run/netns/pod", exists],
  ["nothing is there", {}, path, gone],
  ["one of its name is elsewhere", { mounted }, "/run/pod", gone],
  ["a plain file is there", { files: [path] }, path, gone],
  ["the path is not absolute", {}, "pod", unseen],
  ["its process runs", { processes: { 7: pod } }, ofProcess, exists],
  ["its process has ended", {}, ofProcess, gone],
  [
    "the id of its process is that of one of the node by now",
    { processes: { 7: { namespace: NODE_NAMESPACE } } },
    ofProcess,
    gone,
  ],
  [
    "its process may not be inspected",
    { processes: { 7: pod }, isUnprivileged: true },
    ofProcess,
    unseen,
  ],
  ["its process is not seen from a container", alone, ofProcess, unseen],
  ["a descriptor of a process is closed", {}, "/proc/7/fd/5", unseen],
  ["a container sees nothing there", alone, path, unseen],
  ["but another of the directory", { ...alone, mounted: { "/run/netns/x": 71 } }, path, gone],
  ["but another elsewhere", { ...alone, mounted: { "/mnt/x": 71 } }, path, unseen],
  ["nothing in the directory that it has of the node", sharing, path, gone],
  // What was mounted later on the node looks like a plain file.
  ["a plain file in that directory", { ...sharing, files: [path] }, path, unseen],
];

test("what became of the namespace at a path", async (t) => {
  for (const [what, machine, at, state] of states) {
    const namespaces = new Namespaces(systemOf(machine));
    t.same(namespaces.at(at), state, what);
    t.equal(namespaces.at(at), namespaces.at(at), "looked at once");
  }
});

test("one that only another process of the node has mounted is known by the last name of its path", async (t) => {
  const system = systemOf({ processes: { 7: { namespace: NODE_NAMESPACE }, 8: pod } });
  const namespaces = new Namespaces({
    ...system,
    readLink: (at) => (at === "/proc/7/ns/mnt" ? "mnt:[5]" : system.readLink(at)),
    readFile: (at, limit) =>
      at === "/proc/7/mountinfo"
        ? "30 25 0:4 net:[70] /host/netns/pod rw shared:9 - nsfs nsfs rw\n"
        : system.readFile(at, limit),
  });
  t.same(namespaces.at(path), exists);
  t.same(namespaces.at("/run/netns/other"), gone);
});

test("what is found at a path, or not, decides only where the mounts do not", async (t) => {
  const files = [path];
  const { device } = systemOf({ files }).status("/proc/self/ns/net");
  for (const [machine, answer, state] of [
    [{ files }, { device, inode: 70n }, exists],
    [{ files }, "EIO", unseen],
    [{ files, ...sharing }, "ENOTDIR", gone],
    [{ files, ...sharing }, "ENOENT", gone],
    [{ files, ...sharing }, "EACCES", unseen],
  ] as const) {
    const system = systemOf(machine);
    const status: typeof system.status = (at) => {
      if (at !== path) return system.status(at);
      if (typeof answer === "string") throw new SystemError("stat", at, answer);
      return { ...system.status(at), ...answer };
    };
    t.same(new Namespaces({ ...system, status }).at(path), state, JSON.stringify(machine));
  }
});

test("a process that ends while it is looked at is gone", async (t) => {
  const system = refusing(systemOf({}), ["readLink"], /^\/proc\/7\//, "ESRCH");
  t.same(new Namespaces(system).at(ofProcess), gone);
});

test("why a namespace cannot be entered is said, unless it is unmounted meanwhile", async (t) => {
  const system = systemOf({ mounted: { [path]: 71 } });
  for (const [code, reason] of [
    ["ENOENT", `${path} has no table of addresses`],
    ["EIO", `${path} cannot be entered: setns ${path}: input/output error`],
  ] as const) {
    const readFileIn = (at: string): never => {
      throw new SystemError("setns", at, code);
    };
    t.equal(new Namespaces({ ...system, readFileIn }).incomplete, reason);
    let reads = 0;
    const readFile: typeof system.readFile = (at, limit) =>
      at === "/proc/self/mountinfo" && ++reads > 1 ? "" : system.readFile(at, limit);
    t.equal(new Namespaces({ ...system, readFileIn, readFile }).incomplete, undefined);
  }
});

test("a namespace is found by its address and by its id; those of processes come first", async (t) => {
  const machine = {
    processes: {
      7: { ...pod, addresses6: ["00000000000000000000000000000001"] },
      8: { namespace: 72, addresses6: ["00000000000000000000000000000001"] },
    },
    mounted: { [path]: 71 },
    addresses: { 71: ["10.7.75.2", "10.7.75.3"] },
  };
  const namespaces = new Namespaces(systemOf(machine));
  const pathsOf = (address: string): readonly string[] =>
    namespaces.withAddress(address).map((one) => one.path);
  t.same(pathsOf("10.7.75.2"), ["/proc/7/ns/net", path]);
  t.same(pathsOf("10.7.75.3"), [path]);
  t.same(pathsOf("10.7.75.4"), []);
  t.equal(namespaces.withId("net:[71]")?.path, path);
  t.equal(namespaces.withId("net:[73]"), undefined);
  const several = namespaces.inSeveral.map(([address]) => address);
  t.same(several, ["10.7.75.2"], "but what every namespace has");
});

test("what every namespace has is of the loopback interface, or link-local", async (t) => {
  t.ok(["127.0.0.1", "127.1.2.3", "::1", "fe80::a"].every(isLocal));
  t.notOk(["10.127.0.1", "::11", "fd00::fe80:1", "fec0::1"].some(isLocal));
});

test("a namespace is busy if it has another interface than lo", async (t) => {
  const namespaces = new Namespaces(
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
  const [unread] = new Namespaces(refusing(system, ["readFile"], /\/8\/net\/dev$/, "EIO")).all;
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
    t.equal(new Namespaces(systemOf(machine)).incomplete, reason, JSON.stringify(machine));
  }
  const unlisted = refusing(systemOf({}), ["readFile"], /mountinfo$/, "EACCES");
  t.match(new Namespaces(unlisted).incomplete, /^the mounts of the node are not seen from here/);
});

test("the process whose namespace a path is", async (t) => {
  t.equal(processIn("/proc/4711/ns/net"), "4711");
  for (const other of [
    "/proc/4711/ns/mnt",
    "/proc/4711/fd/5",
    "/proc/4711/ns/net/x",
    "/host/proc/4711/ns/net",
  ]) {
    t.equal(processIn(other), undefined, other);
  }
});
