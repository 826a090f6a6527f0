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

const pod = { namespace: 70, addresses: ["10.7.75.2"] };
const path = "/run/netns/pod";

const states: readonly (readonly [
  what: string,
  machine: Machine,
  path: string,
  state: PathState,
])[] = [
  ["it is mounted", { mounted: { [path]: 70 } }, path, { kind: "exists", id: "net:[70]" }],
  [
    "it is mounted, and named by the link /var/run",
    { mounted: { [path]: 70 } },
    "/var/run/netns/pod",
    { kind: "exists", id: "net:[70]" },
  ],
  ["nothing is there", {}, path, { kind: "gone" }],
  ["one of its name is elsewhere", { mounted: { [path]: 70 } }, "/run/pod", { kind: "gone" }],
  ["a plain file is there", { files: [path] }, path, { kind: "gone" }],
  ["the path is not absolute", {}, "pod", { kind: "unseen" }],
  [
    "its process runs",
    { processes: { 7: pod } },
    "/proc/7/ns/net",
    { kind: "exists", id: "net:[70]" },
  ],
  ["its process has ended", {}, "/proc/7/ns/net", { kind: "gone" }],
  [
    "the id of its process is that of one of the node by now",
    { processes: { 7: { namespace: NODE_NAMESPACE } } },
    "/proc/7/ns/net",
    { kind: "gone" },
  ],
  [
    "its process may not be inspected",
    { processes: { 7: pod }, isUnprivileged: true },
    "/proc/7/ns/net",
    { kind: "unseen" },
  ],
  [
    "its process is not seen from a container",
    { isContained: true },
    "/proc/7/ns/net",
    { kind: "unseen" },
  ],
  ["a descriptor of a process is closed", {}, "/proc/7/fd/5", { kind: "unseen" }],
  ["a container sees nothing there", { isContained: true }, path, { kind: "unseen" }],
  [
    "a container sees nothing there, but another namespace of the directory",
    { isContained: true, mounted: { "/run/netns/other": 71 } },
    path,
    { kind: "gone" },
  ],
  [
    "a container sees nothing there, but another namespace elsewhere",
    { isContained: true, mounted: { "/mnt/other": 71 } },
    path,
    { kind: "unseen" },
  ],
  [
    "a container sees nothing in the directory that it has of the node",
    { isContained: true, shared: ["/run/netns"] },
    path,
    { kind: "gone" },
  ],
  [
    "a container sees a plain file there: what was mounted later on the node looks like one",
    { isContained: true, shared: ["/run/netns"], files: [path] },
    path,
    { kind: "unseen" },
  ],
];

for (const [what, machine, at, state] of states) {
  test(`what became of a namespace: ${what}`, async (t) => {
    const namespaces = new Namespaces(systemOf(machine));
    t.same(namespaces.at(at), state);
    t.same(namespaces.at(at), state, "asked again");
  });
}

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
  t.same(namespaces.at(path), { kind: "exists", id: "net:[70]" });
  t.same(namespaces.at("/run/netns/other"), { kind: "gone" });
});

test("what is found at a path, or not, decides only where the mounts do not", async (t) => {
  const found = { kind: "exists", id: "net:[71]" } as const;
  const covered = systemOf({ files: [path] });
  const device = covered.status("/proc/self/ns/net").device;
  for (const [machine, answer, state] of [
    [{ files: [path] }, { device, inode: 71n }, found],
    [{ files: [path] }, "EIO", { kind: "unseen" }],
    [{ files: [path], shared: ["/run/netns"], isContained: true }, "ENOTDIR", { kind: "gone" }],
    [{ files: [path], shared: ["/run/netns"], isContained: true }, "ENOENT", { kind: "gone" }],
    [{ files: [path], shared: ["/run/netns"], isContained: true }, "EACCES", { kind: "unseen" }],
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
  const system = systemOf({});
  const readLink = (at: string): string => {
    if (at === "/proc/7/ns/net") throw new SystemError("readlink", at, "ESRCH");
    return system.readLink(at);
  };
  t.same(new Namespaces({ ...system, readLink }).at("/proc/7/ns/net"), { kind: "gone" });
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

test("a path is looked at once", async (t) => {
  let looks = 0;
  const system = systemOf({ processes: { 7: pod } });
  const readLink = (at: string): string => {
    if (at === "/proc/7/ns/net") looks++;
    return system.readLink(at);
  };
  const namespaces = new Namespaces({ ...system, readLink });
  looks = 0;
  namespaces.at("/proc/7/ns/net");
  namespaces.at("/proc/7/ns/net");
  t.equal(looks, 1);
});

test("a namespace is found by its address and by its id; those of processes come first", async (t) => {
  const namespaces = new Namespaces(
    systemOf({
      processes: { 7: pod },
      mounted: { [path]: 71 },
      addresses: { 71: ["10.7.75.2", "10.7.75.3"] },
    }),
  );
  const pathsOf = (address: string): readonly string[] =>
    namespaces.withAddress(address).map((one) => one.path);
  t.same(pathsOf("10.7.75.2"), ["/proc/7/ns/net", path]);
  t.same(pathsOf("10.7.75.3"), [path]);
  t.same(pathsOf("10.7.75.4"), []);
  t.equal(namespaces.withId("net:[71]")?.path, path);
  t.equal(namespaces.withId("net:[72]"), undefined);
  t.equal(namespaces.incomplete, undefined);
  t.same(
    namespaces.inSeveral.map(([address]) => address),
    ["10.7.75.2"],
  );
});

test("what every namespace has is not in several", async (t) => {
  const addresses = ["127.0.0.1", "10.7.75.2"];
  const addresses6 = ["00000000000000000000000000000001", "fe80000000000000000000000000000a"];
  const namespaces = new Namespaces(
    systemOf({
      processes: {
        7: { namespace: 70, addresses, addresses6 },
        8: { namespace: 71, addresses: ["127.0.0.1", "10.7.75.3"], addresses6 },
      },
    }),
  );
  t.same(namespaces.inSeveral, []);
  t.same(["127.0.0.1", "127.1.2.3", "::1", "fe80::a"].map(isLocal), [true, true, true, true]);
  t.same(["10.127.0.1", "::11", "fd00::fe80:1", "fec0::1"].map(isLocal), [
    false,
    false,
    false,
    false,
  ]);
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
  const readFile: typeof system.readFile = (at, limit) => {
    if (at === "/proc/8/net/dev") throw new SystemError("open", at, "EIO");
    return system.readFile(at, limit);
  };
  const [unread] = new Namespaces({ ...system, readFile }).all;
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
