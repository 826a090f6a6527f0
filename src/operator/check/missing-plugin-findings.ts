/** Findings on networks whose plugin is not where their runtime looks for it, or cannot be started. */

import { textOf } from "../../cli/command/json-values.ts";
import { memberInAnyCase } from "../../cni/json.ts";
import { join } from "../../store/files/paths.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { attempt } from "../../system/system.ts";
import { precededFiles } from "../configured/configuration-files.ts";
import { type Configuration, configurationsIn } from "../configured/configurations.ts";
import { existingPluginDirectories, PLUGIN } from "../configured/plugin-directories.ts";
import { kindAt, linkAt } from "../install/place.ts";
import { shellCommand } from "../next-command.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";

/** The bits of a mode by which anybody may start a file, see inode(7). */
const EXECUTABLE = 0o111;

/** What is at the path of a plugin. */
type Present =
  | { readonly kind: "sound" | "nothing" | "other program" }
  | { readonly kind: "not executable"; readonly mode: string };

/**
 * Looks for the plugin of each network in the plugin directories of those who read its configuration. No program is started.
 *
 * @param isSelected only networks whose name this holds for
 */
export function missingPluginFindings(
  { context, files }: Node,
  isSelected: (network: string) => boolean,
): readonly Finding[] {
  const { system } = context;
  const preceded = precededFiles(files);
  const usable = files.filter(
    (file) => file.kind === "file" && file.refusal === undefined && !preceded.has(file),
  );
  const directories = existingPluginDirectories(system);
  const found = new Map<string, Finding>();
  for (const configuration of configurationsIn(system, usable, [])) {
    const network = textOf(configuration.document.name);
    if (!isSelected(network)) continue;
    const own = directories.filter((one) => one.configurations === configuration.file.directory);
    const name = nameIn(configuration);
    const isElsewhere = directories.some(
      ({ directory }) => presentAt(system, join(directory, name)).kind === "sound",
    );
    for (const { directory } of own) {
      const path = join(directory, name);
      const about = { code: "plugin-missing", network, path } as const;
      const present = presentAt(system, path);
      // Which directory the runtime uses is not known: in another one it may be sound.
      if (present.kind === "sound" || (present.kind === "nothing" && isElsewhere)) continue;
      found.set(`${network} ${path}`, { ...about, ...describe(present, path) });
    }
  }
  return [...found.values()];
}

function nameIn({ document }: Configuration): string {
  const ipam = memberInAnyCase({ value: document, path: "" }, "ipam");
  const type = ipam && memberInAnyCase(ipam, "type");
  // flannel has it by default.
  return textOf(type?.value) || PLUGIN;
}

function presentAt(system: OperatorSystem, path: string): Present {
  const kind = attempt(() => kindAt(system, path), "unseen");
  // The link may lead to a program that is not here, but on the node.
  if (kind === "nothing") return { kind: linkAt(system, path) === undefined ? kind : "sound" };
  // The runtime goes past a directory of that name.
  if (kind === "directory") return { kind: "nothing" };
  if (kind !== "file") return { kind: "sound" };
  const mode = attempt(() => system.openFile(path, 0).mode, EXECUTABLE);
  if ((mode & EXECUTABLE) === 0) {
    return { kind: "not executable", mode: (mode & 0o777).toString(8).padStart(4, "0") };
  }
  const namesItself = attempt(() => system.hasText(path, PLUGIN), true);
  return { kind: namesItself ? "sound" : "other program" };
}

function describe(present: Present, path: string): Pick<Finding, "message" | "commands"> {
  switch (present.kind) {
    case "not executable":
      return {
        message: `the plugin has mode ${present.mode}, so no runtime can start it`,
        commands: [shellCommand(["chmod", "755", path])],
      };
    case "other program":
      return {
        message: "another program is in place of the plugin: no word in it names host-local",
      };
    default:
      return { message: "there is no plugin" };
  }
}
