/** What is at the path of a plugin, and whether a runtime can start it: the kernel is asked, by starting it. */

import { parentOf } from "../../store/files/paths.ts";
import { seesHostProcesses } from "../../store/namespaces/sight.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { attempt, isSystemError, WRITABLE_BY_OTHERS } from "../../system/system.ts";
import { hasMountsOfNode, hasRootOfNode } from "../facts/outlook.ts";
import type { Finding } from "./finding.ts";

/** What is there; of what no runtime can start, what a finding says. */
export type PresentPlugin =
  | { readonly kind: "sound" | "nothing" }
  | ({ readonly kind: "broken" } & Pick<Finding, "message" | "commands">);

/** The bits of a mode by which anybody may start a file, see inode(7). */
const EXECUTABLE = 0o111;

/** Looks at the path of a plugin. */
export function presentPlugin(system: OperatorSystem, path: string): PresentPlugin {
  const kindAt = () => attempt(() => system.status(path).kind, "nothing", "ENOENT", "ENOTDIR");
  const kind = attempt(kindAt, "unseen");
  // The runtime passes over a directory with the plugin's name.
  if (kind === "directory") return { kind: "nothing" };
  if (kind === "nothing") {
    const target = attempt(() => system.readLink(path), undefined);
    if (target === undefined) return { kind };
    // A link may lead to a program that is not in this container, but on the node.
    if (!hasRootOfNode(system)) return { kind: "sound" };
    const message = `a link to ${target}, where nothing is, is in place of the plugin`;
    return { kind: "broken", message };
  }
  if (kind !== "file") return { kind: "sound" };
  const mode = attempt(() => system.openFile(path, 0).mode, EXECUTABLE);
  if ((mode & EXECUTABLE) === 0) {
    const octal = (mode & 0o777).toString(8).padStart(4, "0");
    const message = `the plugin has mode ${octal}, so no runtime can start it`;
    return { kind: "broken", message, commands: [{ run: [["chmod", "755", path]] }] };
  }
  const reason = isToBeStarted(system, path) ? whyNotStarted(system, path) : undefined;
  return reason === undefined
    ? { kind: "sound" }
    : { kind: "broken", message: `the plugin cannot be started: ${reason}` };
}

const ROOT = 0;

/**
 * Whether a plugin may be started as a test: as the runtime does it, by root and outside of a container or unit, and only where
 * nobody but root can have changed any part of its path.
 */
function isToBeStarted(system: OperatorSystem, path: string): boolean {
  const isOfRoot = (part: string, expected: "file" | "directory"): boolean => {
    const { kind, user, mode } = system.permissions(part);
    return kind === expected && user === ROOT && (mode & WRITABLE_BY_OTHERS) === 0;
  };
  const isSafe = (part: string): boolean =>
    isOfRoot(part, "directory") && (part === "/" || isSafe(parentOf(part)));
  // If only the processes of a container are seen, the first process is that container's.
  const isOnNode = seesHostProcesses(system) && hasMountsOfNode(system);
  // A relative path depends on the working directory of the runtime.
  if (system.userId() !== ROOT || !isOnNode || !path.startsWith("/")) return false;
  return attempt(() => isOfRoot(path, "file") && isSafe(parentOf(path)), false);
}

/** The longest answer, in bytes. */
const LONGEST_ANSWER = 64 * 1024;

/** How long to wait for it, in milliseconds. */
const TIMEOUT = 2000;

/** The exit codes of a program that lacks a library, or that the kernel kills for its content: SIGILL, SIGBUS or SIGSEGV. */
const UNUSABLE: ReadonlySet<number> = new Set([127, 128 + 4, 128 + 7, 128 + 11]);

/** Starts a plugin with CNI_COMMAND=VERSION, whatever it answers; `undefined` where it was started, or that is not known. */
function whyNotStarted(system: OperatorSystem, path: string): string | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  try {
    const call = { name, command: "VERSION", timeout: TIMEOUT };
    const { exitCode, stderr } = system.run([path], LONGEST_ANSWER, call);
    if (!UNUSABLE.has(exitCode)) return undefined;
    return stderr.trim().slice(0, 300) || `it ended with code ${exitCode}`;
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return `${error.reason}: its interpreter`;
    if (isSystemError(error, "ENOEXEC", "EACCES")) return error.reason;
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
