/** The network namespaces that are mounted, as runtimes do it for each pod. */

import { attempt, recover, type System } from "../../system/system.ts";

/** A namespace that is mounted, with the path where a process sees it. */
export interface Mount {
  readonly id: string;
  readonly path: string;
  /** The same from here. */
  readonly reachedAt: string;
}

/** What is mounted on the node, as far as it is seen. */
export interface Mounts {
  /** Those of this process, or else of the node's first one, come first. */
  readonly mounts: readonly Mount[];
  /** The directories of namespaces that a container has of the node. */
  readonly shared: readonly string[];
  /** Whether the mounts of the node are seen, not only those of a container. */
  readonly seesNode: boolean;
  /** Why there may be more; `undefined` where all were read. */
  readonly incomplete: string | undefined;
}

/** `/proc/PID/mountinfo` of a node with thousands of containers is smaller, in bytes. */
const LARGEST_MOUNTINFO = 64 * 1024 * 1024;

/**
 * The namespaces that are mounted where this process sees it, the node's first process, or any other of the node that has
 * mounts of its own, as a runtime may.
 */
export function readMounts(system: System, ofNode: readonly string[]): Mounts {
  const idOf = (process: string): string => system.readLink(`/proc/${process}/ns/mnt`);
  const seen = new Set<string>();
  const mounts = new Map<string, Mount>();
  let shared: readonly string[] = [];
  let incomplete: string | undefined;
  const first = ofNode.length === 0 ? ["self"] : isChrooted(system) ? ["1", "self"] : ["self", "1"];
  for (const process of [...first, ...ofNode]) {
    const read = (): { readonly id: string; readonly text: string } | undefined => {
      const id = idOf(process);
      if (seen.has(id)) return undefined;
      return { id, text: system.readFile(`/proc/${process}/mountinfo`, LARGEST_MOUNTINFO) };
    };
    const found = recover(read, ({ code, message }) => {
      // It has ended or is another user's: what matters then is whether the node's own mounts are seen.
      if (!UNSEEN.includes(code)) incomplete ??= message;
      return undefined;
    });
    if (found === undefined) continue;
    const { id, text } = found;
    seen.add(id);
    if (process === "self") shared = sharedDirectories(text);
    const root = process === "self" ? "" : `/proc/${process}/root`;
    for (const { namespace, path } of namespaceMounts(text)) {
      const key = `${namespace} ${path}`;
      if (!mounts.has(key)) mounts.set(key, { id: namespace, path, reachedAt: `${root}${path}` });
    }
  }
  // The first process may be protected; the second is the kernel's, and has the same mounts.
  const likeNode = (): string =>
    recover(
      () => idOf("1"),
      () => idOf("2"),
    );
  const node = ofNode.length > 0 ? attempt(likeNode, undefined) : undefined;
  return {
    mounts: [...mounts.values()],
    shared,
    seesNode: node !== undefined && seen.has(node),
    incomplete,
  };
}

/** Errors of a process that has ended, or is of another user. */
const UNSEEN: readonly string[] = ["ENOENT", "ESRCH", "EINVAL", "EACCES", "EPERM"];

/** Whether this process has another root than the node, so that its list may lack mounts of the node. */
function isChrooted(system: System): boolean {
  const rootOf = (process: string): string | undefined =>
    attempt(() => {
      const { device, inode } = system.status(`/proc/${process}/root/`);
      return `${device} ${inode}`;
    }, undefined);
  const ofNode = rootOf("1") ?? rootOf("2");
  return ofNode !== undefined && ofNode !== rootOf("self");
}

const SEPARATOR = " - nsfs ";

/**
 * The network namespaces in `mountinfo`, see proc_pid_mountinfo(5): the fourth field of a line names the namespace, and the
 * fifth the path.
 */
function namespaceMounts(
  text: string,
): readonly { readonly namespace: string; readonly path: string }[] {
  const found: { namespace: string; path: string }[] = [];
  // Not by lines: there may be thousands of others, and long ones.
  for (let at = text.indexOf(SEPARATOR); at >= 0; at = text.indexOf(SEPARATOR, at + 1)) {
    const line = text.slice(text.lastIndexOf("\n", at) + 1, at);
    const [, , , namespace = "", path = ""] = line.split(" ");
    if (namespace.startsWith("net:")) found.push({ namespace, path: unescaped(path) });
  }
  return found;
}

/**
 * The directories of namespaces that are mounted from elsewhere, as a container has that of the node: what is missing there
 * is gone, although none may be left.
 *
 * @example sharedDirectories("31 25 0:24 /netns /run/netns ro master:9 - tmpfs tmpfs rw\n"); // ["/run/netns"]
 */
function sharedDirectories(text: string): readonly string[] {
  return [...text.matchAll(/^[0-9]+ [0-9]+ [0-9:]+ [^ ]*\/netns ([^ ]*\/netns) /gm)].map(
    ([, path = ""]) => path,
  );
}

/** Space, tab, line end and backslash are in octal there. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
