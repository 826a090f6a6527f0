/** What became of a namespace; each row is one of what can be seen of it. */

import { test } from "tap";
import type { NetworkNamespace } from "../../../src/cni/network-namespace.ts";
import { NamespaceStates } from "../../../src/store/namespaces/namespace-state.ts";
import { type Machine, systemOf } from "../../operator/node/proc.ts";
import { refusing } from "./refusing.ts";

const path = "/run/netns/pod";
const one = { inode: "70", path };
const pod = { namespace: 70 };
const none = (): readonly [] => [];

const ALIVE = `alive: its network namespace ${path} exists`;
const GONE = `gone: its network namespace ${path} is gone`;

/** Its path is gone, but somebody has its number. */
function held(holder: string, at = path): string {
  return `unseen: its network namespace ${at} is gone, but ${holder} has one with its number`;
}

function unseen(why: string, at = path): string {
  return `unseen: whether its network namespace ${at} exists cannot be seen from here: ${why}`;
}

const other = "/run/netns/other";
const third = "/run/netns/third";
const ofProcess = "/proc/7/ns/net";
const descriptor = "/proc/7/fd/5";

const rows: readonly (readonly [
  what: string,
  machine: Machine,
  expected: string,
  path?: string,
])[] = [
  ["its path leads to it", { mounted: { [path]: 70 } }, ALIVE],
  ["nothing else is seen", { mounted: { [path]: 70 }, isContained: true }, ALIVE],
  ["its path is gone, and nothing has it", {}, GONE],
  ["its path is a plain file, and nothing has it", { files: [path] }, GONE],
  ["its path leads to another one, and nothing has it", { mounted: { [path]: 71 } }, GONE],
  [
    "a process and a mount have its number",
    { processes: { 7: pod }, mounted: { [other]: 70 } },
    held("process 7"),
  ],
  [
    "the thread of a process whose leader is a zombie has its number",
    { processes: { 7: pod }, zombies: { 7: 9 } },
    held("process 7"),
  ],
  ["a mount has its number", { mounted: { [other]: 70 } }, held(`the mount ${other}`)],
  ["its process is gone, and nothing has it", {}, GONE.replace(path, ofProcess), ofProcess],
  [
    "its process has another one, and nothing has it",
    { processes: { 7: { namespace: 71 } } },
    GONE.replace(path, ofProcess),
    ofProcess,
  ],
  [
    "its process has another one, and another process has it",
    { processes: { 7: { namespace: 71 }, 8: pod } },
    held("process 8", ofProcess),
    ofProcess,
  ],
  ["the process of its descriptor is gone", {}, GONE.replace(path, descriptor), descriptor],
  [
    "the process of its descriptor has closed it",
    { processes: { 7: { namespace: 71 } } },
    unseen("process 7 may have it open elsewhere", descriptor),
    descriptor,
  ],
  [
    "the processes are those of a container",
    { isContained: true },
    unseen("the processes of the node are not seen from here"),
  ],
  [
    "processes may not be inspected",
    { isUnprivileged: true, processes: { 7: pod } },
    unseen("process 7 may not be inspected"),
  ],
  [
    "the directory of its path is not there",
    {},
    unseen("the directory /run/other is not there", "/run/other/pod"),
    "/run/other/pod",
  ],
];

test("what is seen of a namespace says whether it is alive, gone or unseen", async (t) => {
  for (const [what, machine, expected, at = path] of rows) {
    const namespace = { ...one, path: at };
    const { kind, reason } = new NamespaceStates(systemOf(machine)).stateOf(namespace, none);
    t.equal(`${kind}: ${reason}`, expected, what);
    const again = new NamespaceStates(systemOf(machine));
    t.equal(again.isGone(namespace, none), kind === "gone", `isGone: ${what}`);
  }
});

test("a namespace is gone if one that was recorded later lives with its number", async (t) => {
  const mounted = { [other]: 70, [third]: 71 };
  for (const [inode, at, expected] of [
    ["70", other, `${GONE}: its number is that of ${other} now`],
    // That one is gone, too; or its path leads to another one; or it has another number.
    ["70", "/run/netns/none", held(`the mount ${other}`)],
    ["70", third, held(`the mount ${other}`)],
    ["71", third, held(`the mount ${other}`)],
  ] as const) {
    const states = new NamespaceStates(systemOf({ mounted }));
    const later = (): readonly NetworkNamespace[] => [{ inode, path: at }];
    const { kind, reason } = states.stateOf(one, later);
    t.equal(`${kind}: ${reason}`, expected, at);
    t.equal(states.isGone(one, later), kind === "gone", at);
  }
});

test("a namespace whose path, or the mounts of the node, cannot be looked at is unseen", async (t) => {
  for (const [operation, at, code, reason] of [
    ["status", /netns\/pod$/, "EACCES", `open ${path}: permission denied`],
    ["list", /netns$/, "ENOTDIR", "the directory /run/netns is not there"],
    ["list", /netns$/, "EACCES", "open /run/netns: permission denied"],
    ["status", /self\/ns\/net$/, "ENOENT", "/proc is not readable"],
    ["readFile", /mountinfo$/, "EACCES", "the mounts of the node are not seen"],
    ["readFile", /self\/mountinfo$/, "EIO", "open /proc/self/mountinfo: input/output error"],
  ] as const) {
    const system = refusing(systemOf({ files: [path] }), [operation], at, code);
    const state = new NamespaceStates(system).stateOf(one, none);
    t.equal(`${state.kind}: ${state.reason}`, unseen(reason));
  }
});

test("a plain file with the number of a namespace is none", async (t) => {
  const system = systemOf({ files: [path] });
  const inode = String(system.status(path).inode);
  t.equal(new NamespaceStates(system).stateOf({ inode, path }, none).kind, "gone");
});

test("a process that ends while it is looked at is gone, one that cannot be looked at may have it open", async (t) => {
  for (const [at, refused, code, kind] of [
    [ofProcess, /^\/proc\/7\//, "ESRCH", "gone"],
    [descriptor, /^\/proc\/7$/, "ENOMEM", "unseen"],
  ] as const) {
    const states = new NamespaceStates(refusing(systemOf({}), ["status"], refused, code));
    t.equal(states.stateOf({ inode: "70", path: at }, none).kind, kind);
  }
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
