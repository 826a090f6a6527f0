/** What became of a namespace; each row is one of what can be seen of it. */

import { test } from "tap";
import type { NetworkNamespace } from "../../../src/cni/network-namespace.ts";
import {
  NamespaceStates,
  type PathState,
  processIn,
} from "../../../src/store/namespaces/namespace-state.ts";
import { type System, SystemError } from "../../../src/system/system.ts";
import { type Machine, NODE_NAMESPACE, systemOf } from "../../harness/proc.ts";
import { refusing } from "./refusing.ts";

const path = "/run/netns/pod";
const one = { id: undefined, inode: "70", path };
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
  [
    "its path is a plain file: it may be mounted in another mount namespace, without a process",
    { files: [path] },
    unseen(`${path} is no namespace, and it may be mounted elsewhere`),
  ],
  [
    "its path cannot be reached from here, and is among the mounts of another process of the node",
    {
      processes: { 8: { namespace: NODE_NAMESPACE, mountNamespace: 5, mounted: { [path]: 70 } } },
      mounted: { [third]: 71 },
    },
    ALIVE,
  ],
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
    const later = (): readonly NetworkNamespace[] => [{ id: undefined, inode, path: at }];
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
    [
      "linesWith",
      /mountinfo$/,
      "EACCES",
      "the mounts of the node are not seen from here, which takes CAP_SYS_PTRACE",
    ],
    ["linesWith", /self\/mountinfo$/, "EIO", "open /proc/self/mountinfo: input/output error"],
  ] as const) {
    const system = refusing(systemOf({ mounted: { [path]: 71 } }), [operation], at, code);
    const state = new NamespaceStates(system).stateOf(one, none);
    t.equal(`${state.kind}: ${state.reason}`, unseen(reason));
  }
});

test("a process that ends meanwhile is gone; one that cannot be looked at may have it open", async (t) => {
  for (const [at, refused, code, kind] of [
    [ofProcess, /^\/proc\/7\//, "ESRCH", "gone"],
    [descriptor, /^\/proc\/7$/, "ENOMEM", "unseen"],
  ] as const) {
    const states = new NamespaceStates(refusing(systemOf({}), ["status"], refused, code));
    t.equal(states.stateOf({ ...one, path: at }, none).kind, kind);
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

test("of thousands that are gone, their directory is listed once, and what is in it is looked at", async (t) => {
  const { states, calls } = watched({ mounted: { "/run/netns/other": 71 } });
  const kinds = ["pod1", "pod2", "other", "..", ""].map(
    (name) => states.stateOf({ ...one, path: `/run/netns/${name}` }, none).kind,
  );
  t.same(kinds, ["gone", "gone", "gone", "gone", "gone"]);
  t.same(
    calls.filter((call) => call.includes("/run/netns")),
    ["list /run/netns", "status /run/netns/other", "status /run/netns/..", "status /run/netns/"],
  );
});

/** A kernel with handles: which namespaces live, by their ids; or the error of asking. */
function withHandles(
  machine: Machine,
  answer: readonly string[] | SystemError["code"],
  isAdministrator = true,
): System {
  const system = systemOf(machine);
  return {
    ...system,
    readFile: (at, limit) =>
      at === "/proc/self/status"
        ? `Name:\thost-local\nCapEff:\t${isAdministrator ? "000001ffffffffff" : "00000000a80425fb"}\n`
        : system.readFile(at, limit),
    namespaceLives: ({ id }) => {
      if (typeof answer === "string") throw new SystemError("open", "namespace", answer);
      return answer.includes(id);
    },
  };
}

const known = { ...one, id: "7001" };

test("by its handle a namespace lives or is gone, whatever processes, mounts and paths show", async (t) => {
  const lost = refusing(withHandles({}, ["7001"]), ["list", "linesWith", "status"], /./, "EIO");
  t.match(new NamespaceStates(lost).stateOf(known, none), { kind: "alive", reason: /exists$/ });
  t.notOk(new NamespaceStates(lost).isGone(known, none));

  for (const machine of [{}, { mounted: { [path]: 70 } }, { processes: { 7: pod } }]) {
    const system = refusing(withHandles(machine, ["7002"]), ["list", "linesWith"], /./, "EIO");
    t.match(new NamespaceStates(system).stateOf(known, none), { kind: "gone", reason: /gone$/ });
    t.ok(new NamespaceStates(system).isGone(known, none));
  }
});

test("a namespace that lives by its handle is not said to be at a path where it is not", async (t) => {
  const lives = "alive: its network namespace net:[70] lives, though";
  for (const [machine, at, expected] of [
    [{ processes: { 7: pod } }, path, `${lives} ${path} is gone`],
    [{ mounted: { [path]: 71 } }, path, `${lives} ${path} leads to another one`],
    [{}, ofProcess, `${lives} ${ofProcess} is gone`],
    // Who cannot look there says no more than the kernel does.
    [{ isContained: true }, "/run/other/pod", `${ALIVE.replace(path, "/run/other/pod")}`],
    [
      {
        processes: { 8: { namespace: NODE_NAMESPACE, mountNamespace: 5, mounted: { [path]: 70 } } },
      },
      path,
      ALIVE,
    ],
  ] as const) {
    const system = withHandles(machine, ["7001"]);
    const state = new NamespaceStates(system).stateOf({ ...known, path: at }, none);
    t.equal(`${state.kind}: ${state.reason}`, expected);
    t.equal(state.hasLeft === true, expected.startsWith(lives));
  }
});

/** A caller to whom the kernel does not tell, or not all, of namespaces by their handles. */
const blind: readonly (readonly [what: string, make: (machine: Machine) => System])[] = [
  ["without CAP_SYS_ADMIN", (machine) => withHandles(machine, [], false)],
  [
    "in a user namespace",
    ({ processes, ...machine }) => {
      const caller = { namespace: NODE_NAMESPACE, userNamespace: 5 };
      return withHandles({ ...machine, processes: { ...processes, 99: caller } }, []);
    },
  ],
  ["where a filter of system calls refuses it", (machine) => withHandles(machine, "EPERM")],
  ["on a kernel without the call", (machine) => withHandles(machine, "ENOSYS")],
  ["out of descriptors", (machine) => withHandles(machine, "EMFILE")],
];

test("what has a handle, and is not seen by who may not ask for it, may live by a descriptor", async (t) => {
  for (const [what, make] of blind) {
    const states = new NamespaceStates(make({ mounted: { [other]: 71 } }));
    const { kind, reason } = states.stateOf(known, none);
    const why = unseen(
      "a descriptor alone may hold it, of which the kernel tells only who has CAP_SYS_ADMIN on the node",
    );
    t.equal(`${kind}: ${reason}`, why, what);
    t.equal(states.isGone(known, none), false, what);
  }
});

test("but it is gone where another one, recorded later, lives with its number", async (t) => {
  const later = (): readonly NetworkNamespace[] => [{ id: "7002", inode: "70", path: other }];
  for (const [what, make] of blind) {
    const states = new NamespaceStates(make({ mounted: { [other]: 70 } }));
    t.equal(states.stateOf(known, later).kind, "gone", what);
    t.equal(states.isGone(known, later), true, what);
  }
});

const mounted = { [path]: 70 };

/** The path by the link `/var/run` of a node. */
const linked = "/var/run/netns/pod";

const isThere: PathState = { kind: "exists", id: "net:[70]" };
const isGone: PathState = { kind: "gone" };
const notSeen = { kind: "unseen" } as const;

/** A container, which has the directory of namespaces of the node, or has not. */
const alone = { isContained: true };
const sharing = { isContained: true, shared: ["/run/netns"] };

const states: readonly (readonly [
  what: string,
  machine: Machine,
  path: string,
  state: PathState | typeof notSeen,
])[] = [
  ["it is mounted", { mounted }, path, isThere],
  ["it is named by the link /var/run", { mounted }, linked, isThere],
  ["nothing is there", {}, path, isGone],
  ["one of its name is elsewhere", { mounted }, "/run/pod", isGone],
  ["a plain file is there", { files: [path] }, path, notSeen],
  ["the path is not absolute", {}, "pod", notSeen],
  ["its process runs", { processes: { 7: pod } }, ofProcess, isThere],
  ["its process has ended", {}, ofProcess, isGone],
  [
    "the id of its process is that of one of the node by now",
    { processes: { 7: { namespace: NODE_NAMESPACE } } },
    ofProcess,
    isGone,
  ],
  [
    "its process may not be inspected",
    { processes: { 7: pod }, isUnprivileged: true },
    ofProcess,
    notSeen,
  ],
  ["its process is not seen from a container", alone, ofProcess, notSeen],
  ["a descriptor of a process is closed", {}, "/proc/7/fd/5", notSeen],
  ["a container sees nothing there", alone, path, notSeen],
  ["but another of the directory", { ...alone, mounted: { "/run/netns/x": 71 } }, path, isGone],
  ["but another elsewhere", { ...alone, mounted: { "/mnt/x": 71 } }, path, notSeen],
  ["nothing in the directory that it has of the node", sharing, path, isGone],
  ["nor by the link /var/run, as runtimes name it", sharing, linked, isGone],
  [
    "another of the directory that the link names",
    { ...alone, mounted: { "/run/netns/x": 71 } },
    linked,
    isGone,
  ],
  // A container need not have the link.
  ["a plain file where the link leads", { ...sharing, files: [path] }, linked, notSeen],
  // What was mounted later on the node looks like a plain file.
  ["a plain file in that directory", { ...sharing, files: [path] }, path, notSeen],
];

test("what became of the namespace at a path", async (t) => {
  for (const [what, machine, at, state] of states) {
    t.match(new NamespaceStates(systemOf(machine)).at(at), state, what);
  }
});

test("a namespace mounted only by another process is known by the last name of its path", async (t) => {
  const mounted = { "/host/netns/pod": 70 };
  const process = { namespace: NODE_NAMESPACE, mountNamespace: 5, mounted };
  const states = new NamespaceStates(systemOf({ processes: { 7: process, 8: pod } }));
  t.same(states.at(path), isThere);
  t.same(states.at("/run/netns/other"), isGone);
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
