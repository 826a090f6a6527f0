/** Findings on the plugin directories of the node. */

import type { OperatorSystem } from "../../system/operator-system.ts";
import { exists } from "../../system/system.ts";
import { type Installation, installationIn, isReplaced } from "../install/installation.ts";
import { shellCommand } from "../node/next-command.ts";
import {
  existingPluginDirectories,
  markedNames,
  PLUGIN,
  STATIC,
} from "../node/plugin-directories.ts";
import type { Finding } from "./finding.ts";

/** Checks that this program is still where it was installed: other installers overwrite it. */
export function pluginFindings(system: OperatorSystem): readonly Finding[] {
  return existingPluginDirectories(system).flatMap(({ directory }) => [
    ...findingsIn(system, installationIn(directory, PLUGIN), []),
    ...findingsIn(system, installationIn(directory, STATIC), ["--static"]),
    ...markedNames(system, directory)
      .filter((name) => name !== PLUGIN && name !== STATIC)
      .flatMap((name) => findingsIn(system, installationIn(directory, name), ["--as", name])),
  ]);
}

/** @param options those of `install` that repair it */
function findingsIn(
  system: OperatorSystem,
  installation: Installation,
  options: readonly string[],
): readonly Finding[] {
  if (!isReplaced(system, installation)) return [];
  const { directory, target } = installation;
  return [
    {
      code: "plugin-replaced",
      files: undefined,
      path: target,
      message: exists(system, target)
        ? "this program was installed here, and was replaced by another one"
        : "this program was installed here, and was removed",
      commands: [shellCommand(["host-local", "install", directory, ...options])],
    },
  ];
}
