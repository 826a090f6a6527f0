/** What the lines of `/proc/PID/mountinfo` say of network namespaces, see proc_pid_mountinfo(5). */

/** What is in each line of a mounted namespace. */
export const OF_NAMESPACES = " - nsfs ";

/** What is in each line of a directory of namespaces. */
export const OF_DIRECTORIES = "/netns ";

/** A namespace that is mounted. */
export interface ListedMount {
  /** The namespace as the kernel names it, such as `net:[4026532345]`. */
  readonly id: string;
  readonly path: string;
}

/** The network namespaces in lines with `OF_NAMESPACES`: the fourth field names the namespace, and the fifth the path. */
export function mountedIn(lines: readonly string[]): readonly ListedMount[] {
  return lines.flatMap((line) => {
    const [, , , id = "", path = ""] = line.split(" ");
    return id.startsWith("net:") ? [{ id, path: unescaped(path) }] : [];
  });
}

/**
 * The directories of namespaces that are mounted from elsewhere, as a container has that of the node: what is missing there
 * is gone, although none may be left.
 *
 * @param lines those with `OF_DIRECTORIES`
 * @example sharedDirectories(["31 25 0:24 /netns /run/netns ro master:9 - tmpfs tmpfs rw"]); // ["/run/netns"]
 */
export function sharedDirectories(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => {
    const [, , , root = "", path = ""] = line.split(" ");
    return root.endsWith("/netns") && path.endsWith("/netns") ? [unescaped(path)] : [];
  });
}

/** A path as it is: space, tab, line end and backslash are in octal there. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
