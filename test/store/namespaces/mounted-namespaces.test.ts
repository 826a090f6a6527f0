/** What is mounted on the node, by the processes that this one can ask. */

import { test } from "tap";
import { readMounts } from "../../../src/store/namespaces/mounted-namespaces.ts";
import { createNodeOperatorSystem } from "../../../src/system/node/operator-system.ts";
import { type System, SystemError } from "../../../src/system/system.ts";
import { refusing } from "./refusing.ts";

/** A process as `/proc/PID` shows it. */
interface Process {
  /** The number of its mount namespace; missing where it may not be seen. */
  readonly mountNamespace?: number;
  /** Its mounts, or the error of reading them. */
  readonly mounts?: readonly string[] | SystemError["code"];
  /** The inode of its root directory. */
  readonly root?: number | undefined;
}

function systemOf(processes: Readonly<Record<string, Process>>): System {
  const processOf = (path: string): Process => processes[path.split("/")[2] ?? ""] ?? {};
  return {
    ...createNodeOperatorSystem(),
    readLink: (path) => {
      const { mountNamespace } = processOf(path);
      if (mountNamespace === undefined) throw new SystemError("readlink", path, "EACCES");
      return `mnt:[${mountNamespace}]`;
    },
    readFile: (path) => {
      const { mounts = [] } = processOf(path);
      if (typeof mounts === "string") throw new SystemError("open", path, mounts);
      return mounts.join("");
    },
    status: (path) => {
      const { root } = processOf(path);
      if (root === undefined) throw new SystemError("stat", path, "EACCES");
      const inode = BigInt(root);
      return { kind: "directory", device: 1n, inode, size: 0, modified: 0n, changed: 0n };
    },
  };
}

/** A line of `mountinfo` for a namespace; its path is as the kernel writes it. */
function mountOf(namespace: string, path: string): string {
  return `130 25 0:4 ${namespace} ${path} rw shared:9 - nsfs nsfs rw\n`;
}

const ROOT = "25 1 8:1 / / rw,relatime shared:1 - ext4 /dev/vda rw\n";

/** The mounts of the node, and those of another process in the same or its own mount namespace. */
const node = { mountNamespace: 1, mounts: [ROOT, mountOf("net:[70]", "/run/netns/a")], root: 2 };

const alone = [{ id: "net:[70]", path: "/run/netns/a", reachedAt: "/run/netns/a" }];

test("a path has blanks and line ends as they are, and another kind of namespace is not listed", async (t) => {
  const mounts = [
    mountOf("uts:[71]", "/run/utsns/b"),
    ROOT,
    mountOf("net:[72]", "/run/netns/a\\040b\\134\\012"),
  ];
  const system = systemOf({ self: { ...node, mounts } });
  t.same(readMounts(system, []).mounts, [
    { id: "net:[72]", path: "/run/netns/a b\\\n", reachedAt: "/run/netns/a b\\\n" },
  ]);
});

test("what only another mount namespace has is reached through a process that can be read; the same mount is listed once", async (t) => {
  const other = {
    mountNamespace: 5,
    mounts: [mountOf("net:[70]", "/run/netns/a"), mountOf("net:[73]", "/mnt/c")],
  };
  const unread = { ...other, mounts: "EACCES" } as const;
  const system = systemOf({ self: node, "1": node, "7": unread, "8": other, "9": other });
  t.same(readMounts(system, ["1", "7", "8", "9"]), {
    mounts: [...alone, { id: "net:[73]", path: "/mnt/c", reachedAt: "/proc/8/root/mnt/c" }],
    shared: [],
    seesNode: true,
    incomplete: undefined,
  });
});

test("the lists of this process and of the first one are read; with another root that comes first, since its own may lack mounts", async (t) => {
  const own = { mountNamespace: 5, mounts: [mountOf("net:[75]", "/own")] };
  const first = { mountNamespace: 6, mounts: [mountOf("net:[76]", "/first")], root: 2 };
  for (const [root, expected] of [
    [2, ["/own", "/proc/1/root/first", "/proc/7/root/run/netns/a"]],
    [9, ["/proc/1/root/first", "/own", "/proc/7/root/run/netns/a"]],
  ] as const) {
    const system = systemOf({ self: { ...own, root }, "1": first, "7": node });
    t.same(
      readMounts(system, ["7"]).mounts.map(({ reachedAt }) => reachedAt),
      expected,
    );
  }
});

test("if the root of the first process is not seen, that of the second shows whether this one is another", async (t) => {
  const seen = { self: node, "1": { ...node, root: undefined }, "2": node };
  for (const [root, reachedAt] of [
    [2, "/run/netns/a"],
    [9, "/proc/1/root/run/netns/a"],
  ] as const) {
    const system = systemOf({ ...seen, self: { ...node, root } });
    t.equal(readMounts(system, ["1"]).mounts[0]?.reachedAt, reachedAt);
  }
  const none = systemOf({ self: { ...node, root: 9 }, "1": { ...node, root: undefined } });
  t.equal(readMounts(none, ["1"]).mounts[0]?.reachedAt, "/run/netns/a", "neither is seen");
});

test("a process that ended or is another user's leaves no doubt, an unreadable list does", async (t) => {
  for (const code of ["ENOENT", "ESRCH", "EINVAL", "EACCES", "EPERM"] as const) {
    const system = systemOf({ self: node, "7": { mountNamespace: 5, mounts: code } });
    t.equal(readMounts(system, ["7"]).incomplete, undefined, code);
  }
  const tooLarge = systemOf({
    self: node,
    "7": { mountNamespace: 5, mounts: "EFBIG" },
    "8": { mountNamespace: 6, mounts: "EIO" },
  });
  const { incomplete, mounts } = readMounts(tooLarge, ["7", "8"]);
  t.match(incomplete, "/proc/7/mountinfo");
  t.same(mounts, alone);

  const system = systemOf({ self: node, "7": node });
  const short = refusing(system, ["readLink"], /\/7\/ns\/mnt$/, "ENOMEM");
  t.match(readMounts(short, ["7"]).incomplete, "/proc/7/ns/mnt");
});

test("a process counts only if its mount namespace is known, and the first one only if it is the node's", async (t) => {
  const other = { mounts: [mountOf("net:[73]", "/mnt/c")] };
  t.same(readMounts(systemOf({ self: node, "7": other }), ["7"]).mounts, alone);
  t.same(readMounts(systemOf({ self: other }), []).mounts, [], "nor this one");
  const first = { ...other, mountNamespace: 5 };
  t.same(readMounts(systemOf({ self: node, "1": first }), []).mounts, alone);
  t.same(
    readMounts(systemOf({ self: { ...node, root: 9 }, "1": { ...first, root: 2 } }), []).mounts,
    alone,
  );
});

test("the node is seen only where the mounts of its first or second process are", async (t) => {
  const own = { mountNamespace: 5, mounts: [] };
  const hidden = { ...node, mounts: "EACCES" } as const;
  for (const [processes, ofNode, seesNode] of [
    [{ self: own, "1": node }, ["1"], true],
    [{ self: own, "1": hidden }, ["1"], false],
    [{ self: node, "1": {}, "2": node }, ["1", "2"], true],
    [{ self: own, "1": {}, "2": hidden }, ["1", "2"], false],
    [{ self: node, "1": node }, [], false],
  ] as const) {
    const known = JSON.stringify(processes);
    t.equal(readMounts(systemOf(processes), ofNode).seesNode, seesNode, known);
  }
});

test("a container knows the directories of namespaces that it has of the node", async (t) => {
  const mounts = [
    ROOT,
    "131 25 0:24 /netns /run/netns ro,nosuid master:9 - tmpfs tmpfs rw\n",
    "132 25 0:24 /run/netns /host/var/run/netns ro master:9 - tmpfs tmpfs rw\n",
    "133 25 0:24 /netnsx /run/netnsx ro master:9 - tmpfs tmpfs rw\n",
  ];
  const other = { mountNamespace: 5, mounts: [mounts[1] ?? ""] };
  t.same(readMounts(systemOf({ self: { ...node, mounts } }), []).shared, [
    "/run/netns",
    "/host/var/run/netns",
  ]);
  t.same(readMounts(systemOf({ self: node, "7": other }), ["7"]).shared, [], "another's");
});
