/** What became of a namespace; each row is one of what can be seen of it. */

import { test } from "tap";
import { NamespaceStates } from "../../../src/store/namespaces/namespace-state.ts";
import { createNodeOperatorSystem } from "../../../src/system/node/operator-system.ts";
import { SystemError } from "../../../src/system/system.ts";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { mountNamespace, processWith, skipOutsideHost } from "../../harness/network-namespaces.ts";
import { type Machine, systemOf } from "../../operator/node/proc.ts";

const path = "/run/netns/pod";
const one = { inode: "70", path };
const pod = { namespace: 70 };
const none = (): readonly [] => [];

interface Row {
  readonly case: string;
  readonly machine: Machine;
  readonly path?: string;
  readonly later?: readonly { readonly inode: string; readonly path: string }[];
  readonly expected: string;
}

const rows: readonly Row[] = [
  {
    case: "its path leads to it",
    machine: { mounted: { [path]: 70 } },
    expected: `alive: its network namespace ${path} exists`,
  },
  {
    case: "its path leads to it, and nothing else is seen",
    machine: { mounted: { [path]: 70 }, isContained: true },
    expected: `alive: its network namespace ${path} exists`,
  },
  {
    case: "its path is gone, and nothing has it",
    machine: {},
    expected: `gone: its network namespace ${path} is gone`,
  },
  {
    case: "its path is a plain file, and nothing has it",
    machine: { files: [path] },
    expected: `gone: its network namespace ${path} is gone`,
  },
  {
    case: "its path leads to another one, and nothing has it",
    machine: { mounted: { [path]: 71 } },
    expected: `gone: its network namespace ${path} is gone`,
  },
  {
    case: "its path is gone, and a process has its number",
    machine: { processes: { 7: pod } },
    expected: `unseen: its network namespace ${path} is gone, but process 7 has one with its number`,
  },
  {
    case: "its path is gone, and a process and a mount have its number",
    machine: { processes: { 7: pod }, mounted: { "/run/netns/other": 70 } },
    expected: `unseen: its network namespace ${path} is gone, but process 7 has one with its number`,
  },
  {
    case: "its path is gone, and the thread of a process whose leader is a zombie has its number",
    machine: { processes: { 7: pod }, zombies: { 7: 9 } },
    expected: `unseen: its network namespace ${path} is gone, but process 7 has one with its number`,
  },
  {
    case: "its path is gone, and another mount has its number",
    machine: { mounted: { "/run/netns/other": 70 } },
    expected: `unseen: its network namespace ${path} is gone, but the mount /run/netns/other has one with its number`,
  },
  {
    case: "its path is gone, and its number is that of a namespace recorded later",
    machine: { mounted: { "/run/netns/other": 70 }, processes: { 7: pod } },
    later: [{ inode: "70", path: "/run/netns/other" }],
    expected: `gone: its network namespace ${path} is gone: its number is that of /run/netns/other now`,
  },
  {
    case: "its number is another's, and what was recorded later is gone, too",
    machine: { mounted: { "/run/netns/other": 70 } },
    later: [{ inode: "70", path: "/run/netns/third" }],
    expected: `unseen: its network namespace ${path} is gone, but the mount /run/netns/other has one with its number`,
  },
  {
    case: "its number is another's, and the path of what was recorded later leads to another",
    machine: { mounted: { "/run/netns/other": 70, "/run/netns/third": 71 } },
    later: [{ inode: "70", path: "/run/netns/third" }],
    expected: `unseen: its network namespace ${path} is gone, but the mount /run/netns/other has one with its number`,
  },
  {
    case: "its number is another's, and what was recorded later has another number",
    machine: { mounted: { "/run/netns/other": 70, "/run/netns/third": 71 } },
    later: [{ inode: "71", path: "/run/netns/third" }],
    expected: `unseen: its network namespace ${path} is gone, but the mount /run/netns/other has one with its number`,
  },
  {
    case: "its process is gone, and nothing has it",
    machine: {},
    path: "/proc/7/ns/net",
    expected: "gone: its network namespace /proc/7/ns/net is gone",
  },
  {
    case: "its process has another one, and nothing has it",
    machine: { processes: { 7: { namespace: 71 } } },
    path: "/proc/7/ns/net",
    expected: "gone: its network namespace /proc/7/ns/net is gone",
  },
  {
    case: "its process has another one, and another process has it",
    machine: { processes: { 7: { namespace: 71 }, 8: pod } },
    path: "/proc/7/ns/net",
    expected:
      "unseen: its network namespace /proc/7/ns/net is gone, but process 8 has one with its number",
  },
  {
    case: "the process of its descriptor is gone",
    machine: {},
    path: "/proc/7/fd/5",
    expected: "gone: its network namespace /proc/7/fd/5 is gone",
  },
  {
    case: "the process of its descriptor has closed it",
    machine: { processes: { 7: { namespace: 71 } } },
    path: "/proc/7/fd/5",
    expected:
      "unseen: whether its network namespace /proc/7/fd/5 exists cannot be seen from here: process 7 may have it open elsewhere",
  },
  {
    case: "the processes are those of a container",
    machine: { isContained: true },
    expected: `unseen: whether its network namespace ${path} exists cannot be seen from here: the processes of the node are not seen from here`,
  },
  {
    case: "processes may not be inspected",
    machine: { isUnprivileged: true, processes: { 7: pod } },
    expected: `unseen: whether its network namespace ${path} exists cannot be seen from here: process 7 may not be inspected`,
  },
  {
    case: "the directory of its path is not there",
    machine: {},
    path: "/run/other/pod",
    expected:
      "unseen: whether its network namespace /run/other/pod exists cannot be seen from here: the directory /run/other is not there",
  },
];

test("what is seen of a namespace says whether it is alive, gone or unseen", async (t) => {
  for (const row of rows) {
    const namespace = { ...one, path: row.path ?? path };
    const states = new NamespaceStates(systemOf(row.machine));
    const { kind, reason } = states.stateOf(namespace, () => row.later ?? []);
    t.equal(`${kind}: ${reason}`, row.expected, row.case);
    const again = new NamespaceStates(systemOf(row.machine));
    t.equal(
      again.isGone(namespace, () => row.later ?? []),
      kind === "gone",
      `isGone: ${row.case}`,
    );
  }
});

test("a namespace whose path, or the mounts of the node, cannot be looked at is unseen", async (t) => {
  const system = systemOf({ files: [path] });
  const failing = (operation: "status" | "readFile" | "list", at: string, code: string) => ({
    ...system,
    [operation]: (path: string, limit: number) => {
      if (path.endsWith(at)) throw new SystemError("open", path, code);
      return system[operation](path, limit);
    },
  });
  for (const [changed, reason] of [
    [failing("status", path, "EACCES"), `open ${path}: permission denied`],
    [failing("list", "/run/netns", "ENOTDIR"), "the directory /run/netns is not there"],
    [failing("list", "/run/netns", "EACCES"), "open /run/netns: permission denied"],
    [failing("status", "/proc/self/ns/net", "ENOENT"), "/proc is not readable"],
    [failing("readFile", "/mountinfo", "EACCES"), "the mounts of the node are not seen"],
    [
      failing("readFile", "/proc/self/mountinfo", "EIO"),
      "open /proc/self/mountinfo: input/output error",
    ],
  ] as const) {
    t.same(new NamespaceStates(changed).stateOf(one, none), {
      kind: "unseen",
      reason: `whether its network namespace ${path} exists cannot be seen from here: ${reason}`,
    });
  }
});

test("a plain file with the number of a namespace is none", async (t) => {
  const system = systemOf({ files: [path] });
  const inode = String(system.status(path).inode);
  t.equal(new NamespaceStates(system).stateOf({ inode, path }, none).kind, "gone");
});

test("a descriptor whose process cannot be looked at may be open", async (t) => {
  const system = systemOf({});
  const status: typeof system.status = (at) => {
    if (at === "/proc/7") throw new SystemError("stat", at, "ENOMEM");
    return system.status(at);
  };
  const states = new NamespaceStates({ ...system, status });
  t.equal(states.stateOf({ inode: "70", path: "/proc/7/fd/5" }, none).kind, "unseen");
});

test("a process that ends while it is looked at is gone", async (t) => {
  const system = systemOf({});
  const status: typeof system.status = (at) => {
    if (at.startsWith("/proc/7/")) throw new SystemError("stat", at, "ESRCH");
    return system.status(at);
  };
  const states = new NamespaceStates({ ...system, status });
  t.equal(states.stateOf({ inode: "70", path: "/proc/7/ns/net" }, none).kind, "gone");
});

/** The states on a machine, and which directories are listed and files looked at. */
function watched(machine: Machine): { states: NamespaceStates; calls: readonly string[] } {
  const system = systemOf(machine);
  const calls: string[] = [];
  const list: typeof system.list = (path) => {
    calls.push(`list ${path}`);
    return system.list(path);
  };
  const status: typeof system.status = (path) => {
    calls.push(`status ${path}`);
    return system.status(path);
  };
  return { states: new NamespaceStates({ ...system, list, status }), calls };
}

test("processes and mounts are read once, and for a namespace that something has nothing more", async (t) => {
  const { states, calls } = watched({ processes: { 7: pod } });
  for (let at = 0; at < 3; at++) t.equal(states.isGone(one, none), false);
  t.same(
    calls.filter((call) => call.includes(path) || call === "list /proc"),
    ["list /proc"],
  );
  t.equal(states.isGone({ ...one, inode: "72" }, none), true);
  t.equal(calls.filter((call) => call === "list /proc").length, 1);
});

test("of thousands that are gone, their directory is listed once, and what is in it is looked at", async (t) => {
  const { states, calls } = watched({ mounted: { "/run/netns/other": 71 } });
  const kinds = ["pod1", "pod2", "other", "..", ""].map(
    (name) => states.stateOf({ inode: "70", path: `/run/netns/${name}` }, none).kind,
  );
  t.same(kinds, ["gone", "gone", "gone", "gone", "gone"]);
  t.same(
    calls.filter((call) => call.includes("/run/netns")),
    ["list /run/netns", "status /run/netns/other", "status /run/netns/..", "status /run/netns/"],
  );
});

test("of real namespaces, one that is mounted or has a process is not gone, and one that was is", {
  skip: skipOutsideHost,
}, async (t) => {
  const system = createNodeOperatorSystem();
  const inodeAt = (at: string): string => String(system.status(at).inode);
  const directory = scratchDirectory(t);
  const mounted = `${directory}/mounted`;
  mountNamespace(t, mounted);
  const process = await processWith(t, "10.7.31.2/24");
  const ofProcess = { inode: inodeAt(`/proc/${process}/ns/net`), path: `/proc/${process}/ns/net` };
  const states = new NamespaceStates(system);

  t.equal(states.stateOf({ inode: inodeAt(mounted), path: mounted }, none).kind, "alive");
  t.equal(states.stateOf(ofProcess, none).kind, "alive");
  t.equal(states.stateOf({ ...ofProcess, path: `${directory}/gone` }, none).kind, "unseen");
  t.equal(states.stateOf({ inode: inodeAt(mounted), path: "/proc/7/ns/net" }, none).kind, "unseen");
  t.equal(
    states.stateOf({ inode: "1", path: `${directory}/gone` }, none).reason,
    `its network namespace ${directory}/gone is gone`,
  );
});
