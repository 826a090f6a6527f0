/** What is seen of the processes of a node and of its mounts. */

import { test } from "tap";
import { AddressesInUse } from "../../../src/store/namespaces/addresses-in-use.ts";
import { NamespaceStates } from "../../../src/store/namespaces/namespace-state.ts";
import { lookAround, nodeNamespaceOf } from "../../../src/store/namespaces/view.ts";
import type { System } from "../../../src/system/system.ts";
import { type Machine, NODE_NAMESPACE, type Process, systemOf } from "../../harness/proc.ts";
import { refusing } from "./refusing.ts";

/** A process of the node itself. */
const node = { namespace: NODE_NAMESPACE, addresses: ["127.0.0.1", "192.0.2.1"] };

const pod = { namespace: 70, addresses: ["10.7.10.2"] };

const UNSEEN = "the mounts of the node are not seen from here, which takes CAP_SYS_PTRACE";

function idsOf(view: ReturnType<typeof lookAround>): readonly string[] {
  return [...view.tasks].map(([id, tasks]) => `${id} ${tasks.map((one) => one.task).join()}`);
}

test("each namespace but the node's has its processes; of a zombie one of its threads", async (t) => {
  const processes = { 7: pod, 8: pod, 9: { namespace: 71 }, 80: node };
  const view = lookAround(systemOf({ processes, zombies: { 7: 17 } }));
  t.same(idsOf(view), ["net:[70] 7/task/17,8", "net:[71] 9"]);
  t.same(
    view.ofNode.map(({ processId }) => processId),
    ["1", "80", "99"],
  );
  t.same([view.uninspected, view.incomplete], [[], undefined]);
});

test("a process is in each namespace in which one of its threads is", async (t) => {
  const threads = { "7/task/17": 70, "7/task/18": 71, "80/task/81": NODE_NAMESPACE };
  const view = lookAround(systemOf({ processes: { 7: pod, 80: node }, threads }));
  t.same(idsOf(view), ["net:[70] 7", "net:[71] 7/task/18"]);
  t.same(
    view.ofNode.map(({ task }) => task),
    ["1", "80", "99"],
  );
});

test("a process is read again if one of its threads has ended before that was read", async (t) => {
  const system = systemOf({ processes: { 80: node }, threads: { "80/task/81": 70 } });
  const thread = "/proc/80/task/81/";
  let times = 0;
  const readLink: typeof system.readLink = (path) =>
    system.readLink(path.startsWith(thread) && times++ === 0 ? "/proc/404/ns/net" : path);
  t.same(idsOf(lookAround({ ...system, readLink })), ["net:[70] 80/task/81"]);

  const ended = refusing(system, ["readLink"], /^\/proc\/80\/task\/81\//, "ESRCH");
  t.match(lookAround(ended).incomplete, "processes come and go, such as 80");
  const readFile: typeof system.readFile = (path, limit) =>
    path === `${thread}stat` ? "81 (a) Z 1 0 0 0 0 4" : system.readFile(path, limit);
  t.equal(lookAround({ ...ended, readFile }).incomplete, undefined, "it starts no other");
});

test("who may not inspect processes knows those of the node by their tables, and no mounts", async (t) => {
  const view = lookAround(systemOf({ processes: { 7: pod, 80: node }, isUnprivileged: true }));
  t.same(idsOf(view), []);
  t.match(view, { uninspected: [{ processId: "7" }], incomplete: UNSEEN, seesMounts: false });
  t.same(
    view.ofNode.map(({ processId }) => processId),
    ["1", "80", "99"],
  );
});

test("in a container its own processes are seen, and nothing of the node", async (t) => {
  const view = lookAround(systemOf({ processes: { 7: pod }, isContained: true }));
  t.match(view.incomplete, "the processes of the node are not seen from here");
  t.same([view.ofNode, view.seesMounts], [[], false]);
});

test("the node's namespace is known to who sees the host's processes, and runs in it or may look", async (t) => {
  const inPod = { 99: { namespace: 70 } };
  for (const [machine, expected] of [
    [{}, `net:[${NODE_NAMESPACE}]`],
    [{ isUnprivileged: true }, `net:[${NODE_NAMESPACE}]`],
    [{ processes: inPod }, `net:[${NODE_NAMESPACE}]`],
    [{ processes: inPod, isUnprivileged: true }, undefined],
    [{ isContained: true }, undefined],
  ] as const) {
    t.equal(nodeNamespaceOf(systemOf(machine)), expected, JSON.stringify(machine));
  }
});

test("where the first process is protected, the kernel's own shows the namespace of the node", async (t) => {
  const system = systemOf({ processes: { 2: node, 99: { namespace: 70 } } });
  const isProtected = refusing(system, ["readLink"], /^\/proc\/1\/ns\/net$/, "EACCES");
  t.equal(nodeNamespaceOf(isProtected), `net:[${NODE_NAMESPACE}]`);

  const unseen = refusing(isProtected, ["status"], /./, "EACCES");
  t.equal(nodeNamespaceOf(unseen), undefined, "nor are its tables seen");
});

/** A system on which processes are there only at certain lists of `/proc`, counted from 1; others always. */
function changing(
  machine: Machine,
  listedIn: Readonly<Record<string, readonly number[]>>,
  isReadable: (process: string, list: number) => boolean = () => true,
): System {
  const system = systemOf(machine);
  let lists = 0;
  return {
    ...system,
    list: (path) => {
      if (path !== "/proc") return system.list(path);
      lists++;
      return system.list(path).filter((name) => listedIn[name]?.includes(lists) ?? true);
    },
    readLink: (path) => {
      const [, process = ""] = /^\/proc\/([0-9]+)\//.exec(path) ?? [];
      return isReadable(process, lists)
        ? system.readLink(path)
        : system.readLink("/proc/404/ns/net");
    },
  };
}

test("a process that hands its namespace over and ends is followed to the one that has it", async (t) => {
  const chain = { processes: { 7: pod, 8: pod, 9: pod } };
  const system = changing(
    chain,
    { 7: [1], 8: [2], 9: [3, 4] },
    (process) => !["7", "8"].includes(process),
  );
  t.same(idsOf(lookAround(system)), ["net:[70] 9"]);
});

test("a process unreadable for a moment, as it executes itself from a thread, is read again", async (t) => {
  const system = changing(
    { processes: { 7: pod } },
    {},
    (process, list) => process !== "7" || list > 1,
  );
  t.same(idsOf(lookAround(system)), ["net:[70] 7"]);
});

test("a process that has ended, and is listed until its parent has asked how, is in no namespace", async (t) => {
  const view = lookAround(systemOf({ processes: { 7: pod, 8: pod }, ended: [7] }));
  t.same([idsOf(view), view.incomplete], [["net:[70] 8"], undefined]);

  const system = systemOf({ processes: { 7: pod }, ended: [7] });
  const readFile: typeof system.readFile = (path, limit) =>
    system.readFile(path, limit).replace(/1 0\n$/, "2 0\n");
  t.match(lookAround({ ...system, readFile }).incomplete, "come and go", "it has a thread");
  const executing: typeof system.readFile = (path, limit) =>
    system.readFile(path, limit).replace("Z 0 0 0 0 0 4", "S 0 0 0 0 0 0");
  t.match(lookAround({ ...system, readFile: executing }).incomplete, "come and go");
});

test("while processes come and go, some namespace may be missing", async (t) => {
  const system = systemOf({});
  let last = 100;
  const list: typeof system.list = (path) =>
    path === "/proc" ? [...system.list(path), `${++last}`] : system.list(path);
  t.match(lookAround({ ...system, list }).incomplete, /^processes come and go, such as 1\d\d$/);
});

test("if processes cannot be listed or looked at, as with hidepid=1, a namespace may be missing", async (t) => {
  const processes = { 7: { namespace: 70 } };
  const seen = systemOf({ processes });
  const unprivileged = systemOf({ processes, isUnprivileged: true });
  for (const system of [
    refusing(seen, ["list"], /^\/proc$/, "ENFILE"),
    refusing(unprivileged, ["status"], /^\/proc\/[0-9]+\//, "EPERM"),
    refusing(seen, ["readLink", "status"], /^\/proc\/7\//, "ENOMEM"),
  ]) {
    t.type(new AddressesInUse(system).incomplete, "string");
    const one = { id: undefined, inode: "70", path: "/run/netns/pod" };
    t.equal(new NamespaceStates(system).stateOf(one, () => []).kind, "unseen");
  }
});

test("a process whose threads cannot be listed may be in any namespace", async (t) => {
  const system = systemOf({ processes: { 7: pod }, zombies: { 7: 9 } });
  const view = lookAround(refusing(system, ["list"], /\/7\/task$/, "EACCES"));
  t.match(view.incomplete, /^open \/proc\/7\/task: /);
  t.same(idsOf(view), []);
});

const mounted = { "/run/netns/a": 70 };
const ofNode = [{ id: "net:[70]", path: "/run/netns/a", reachedAt: "/run/netns/a" }];

/** A process of the node with mounts of its own. */
function withMounts(mountNamespace: number, path: string, rest: object = {}): Process {
  return { ...node, mountNamespace, mounted: { [path]: 73 }, ...rest };
}

test("what another mount namespace has is reached through a process there; a mount counts once", async (t) => {
  const other = { ...withMounts(5, "/mnt/c"), mounted: { ...mounted, "/mnt/c": 73 } };
  const { mounts, seesMounts } = lookAround(
    systemOf({ processes: { 8: other, 9: other }, mounted }),
  );
  t.ok(seesMounts);
  t.same(mounts, [...ofNode, { id: "net:[73]", path: "/mnt/c", reachedAt: "/proc/8/root/mnt/c" }]);
});

test("a process in a chroot shows what is mounted there; the node's mounts are still seen", async (t) => {
  const jail = { ...node, root: 9, mounted: {} };
  const view = lookAround(systemOf({ processes: { 99: jail, 8: jail }, mounted }));
  t.same(view.mounts, [{ ...ofNode[0], reachedAt: "/proc/1/root/run/netns/a" }]);
  t.ok(view.seesMounts, "by the first process");

  const unread = refusing(
    systemOf({ processes: { 2: { ...node, root: 3 }, 99: jail }, mounted }),
    ["readLink", "status"],
    /^\/proc\/[12]\/(ns\/mnt|root\/)$/,
    "EACCES",
  );
  t.match(lookAround(unread), { seesMounts: false, incomplete: UNSEEN });
});

test("the mounts of a process whose first thread has ended are read by another thread", async (t) => {
  const machine = { processes: { 80: withMounts(5, "/mnt/c") }, zombies: { 80: 81 }, mounted };
  const { mounts, incomplete } = lookAround(systemOf(machine));
  t.equal(incomplete, undefined);
  t.match(mounts[1], { path: "/mnt/c", reachedAt: "/proc/80/task/81/root/mnt/c" });
});

test("what is mounted in a user namespace of somebody else is none of the node's", async (t) => {
  const own = withMounts(5, "/home/u/c", { userNamespace: 4 });
  const { mounts, incomplete } = lookAround(systemOf({ processes: { 8: own }, mounted }));
  t.same([mounts, incomplete], [ofNode, undefined]);
  for (const code of ["EACCES", "ENOTCONN"]) {
    const system = refusing(
      systemOf({ processes: { 8: own }, mounted }),
      ["status"],
      /^\/proc\/8\/root\/$/,
      code,
    );
    t.equal(lookAround(system).incomplete, undefined, `a root in its own file system: ${code}`);
  }
});

test("an unreadable list of mounts may have more, whatever the reason, unless its process ended", async (t) => {
  const machine = { processes: { 7: withMounts(5, "/mnt/c") }, mounted };
  for (const [operation, path, code, incomplete] of [
    ["linesWith", /^\/proc\/7\/mountinfo$/, "EACCES", UNSEEN],
    ["linesWith", /^\/proc\/7\/mountinfo$/, "EPERM", UNSEEN],
    ["linesWith", /^\/proc\/7\/mountinfo$/, "EIO", "open /proc/7/mountinfo: input/output error"],
    ["readLink", /^\/proc\/7\/ns\/mnt$/, "ENOMEM", "open /proc/7/ns/mnt: ENOMEM"],
    ["readLink", /^\/proc\/7\/ns\/user$/, "EACCES", UNSEEN],
    ["status", /^\/proc\/7\/root\/$/, "EACCES", UNSEEN],
  ] as const) {
    const view = lookAround(refusing(systemOf(machine), [operation], path, code));
    t.equal(view.incomplete, incomplete, `${operation} ${code}`);
    t.same(view.mounts, ofNode);
  }
  for (const code of ["ENOENT", "ESRCH", "EINVAL"]) {
    const system = refusing(systemOf(machine), ["linesWith"], /^\/proc\/7\/mountinfo$/, code);
    // It has ended once it is not listed any more.
    let lists = 0;
    const list: typeof system.list = (path) =>
      system.list(path).filter((name) => path !== "/proc" || name !== "7" || ++lists === 1);
    t.equal(lookAround({ ...system, list }).incomplete, undefined, code);
  }
});

test("the node's mounts are its first process' or, if protected, the second's, the kernel's", async (t) => {
  const machine = { processes: { 2: node }, mounted };
  const first = /^\/proc\/1\/(ns\/mnt|root\/|mountinfo)$/;
  const isProtected = refusing(
    systemOf(machine),
    ["readLink", "linesWith", "status"],
    first,
    "EACCES",
  );
  t.match(lookAround(isProtected), { seesMounts: true, incomplete: undefined });
  const elsewhere = { processes: { 2: node, 99: withMounts(5, "/own") }, mounted };
  const second = refusing(isProtected, ["linesWith"], /^\/proc\/2\/mountinfo$/, "EACCES");
  t.ok(lookAround(second).seesMounts, "this process has the same");
  const neither = refusing(
    systemOf(elsewhere),
    ["linesWith"],
    /^\/proc\/[12]\/mountinfo$/,
    "EACCES",
  );
  t.match(lookAround(neither), { seesMounts: false, incomplete: UNSEEN });
});

test("a container knows the directories of namespaces that it has of the node", async (t) => {
  const shared = ["/run/netns"];
  t.same(lookAround(systemOf({ isContained: true, shared })).shared, shared);
  t.same(lookAround(systemOf({ shared })).shared, [], "the node itself needs none");
});
