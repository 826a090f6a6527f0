/** What is at the path of a plugin, and whether a runtime can start it. */

import type { OperatorSystem } from "../../system/operator-system.ts";
import { attempt } from "../../system/system.ts";
import { PLUGIN } from "../configured/plugin-directories.ts";
import { hasRootOfNode } from "../facts/outlook.ts";
import { whyNotStarted } from "../facts/program-file.ts";
import { kindAt, linkAt } from "../install/place.ts";
import type { Finding } from "./finding.ts";

/** What is there; of what no runtime can start, what a finding says. */
export type PresentPlugin =
  | { readonly kind: "sound" | "nothing" }
  | {
      readonly kind: "broken";
      readonly said: Pick<Finding, "severity" | "message" | "remedy" | "commands">;
    };

/** The bits of a mode by which anybody may start a file, see inode(7). */
const EXECUTABLE = 0o111;

/**
 * Looks at the path of a plugin.
 *
 * @param isIpam whether it is the IPAM plugin, which this program or the Go plugin is to be
 */
export function presentPlugin(
  system: OperatorSystem,
  path: string,
  isIpam: boolean,
): PresentPlugin {
  const broken = (message: string): PresentPlugin => ({ kind: "broken", said: { message } });
  const kind = attempt(() => kindAt(system, path), "unseen");
  if (kind === "nothing") return behindLink(system, path);
  // The runtime goes past a directory of that name.
  if (kind === "directory") return { kind: "nothing" };
  if (kind !== "file") return { kind: "sound" };
  // Before the mode: what is no program is to be replaced, not to be made executable.
  if (attempt(() => system.status(path).size, 1) === 0) {
    return broken("an empty file is in place of the plugin");
  }
  const reason = whyNotStarted(system, path);
  if (reason !== undefined) return broken(`no runtime can start the plugin: ${reason}`);
  const mode = attempt(() => system.openFile(path, 0).mode, EXECUTABLE);
  if ((mode & EXECUTABLE) !== 0) return isIpam ? perhapsOther(system, path) : { kind: "sound" };
  const octal = (mode & 0o777).toString(8).padStart(4, "0");
  const message = `the plugin has mode ${octal}, so no runtime can start it`;
  return { kind: "broken", said: { message, commands: [{ run: [["chmod", "755", path]] }] } };
}

/** A program that has not the word may be another one, or the plugin, packed; what a script starts is not known. */
function perhapsOther(system: OperatorSystem, path: string): PresentPlugin {
  const isScript = attempt(() => system.firstBytes(path, 2), "#!") === "#!";
  if (isScript || attempt(() => system.hasText(path, PLUGIN), true)) return { kind: "sound" };
  const said = {
    severity: "warning" as const,
    message: "no word in the program names host-local: whether it is this plugin cannot be told",
    remedy:
      "if pods start (host-local networks shows the last ADD), nothing is wrong; otherwise put the plugin there (host-local install DIR)",
  };
  return { kind: "broken", said };
}

/** A symbolic link may lead to a program that is not in this container, but on the node. */
function behindLink(system: OperatorSystem, path: string): PresentPlugin {
  const target = attempt(() => linkAt(system, path), undefined);
  if (target === undefined) return { kind: "nothing" };
  const message = `a link to ${target}, where nothing is, is in place of the plugin`;
  if (hasRootOfNode(system)) return { kind: "broken", said: { message } };
  const said = {
    severity: "info" as const,
    message: `${message}; whether something is there on the node cannot be told`,
    remedy: "run check on the node, outside of a container",
  };
  return { kind: "broken", said };
}
