/** Findings on the plugin directories of the node. */

import { join } from "../../store/location.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { exists } from "../../system/system.ts";
import { isOurs } from "../install/probe.ts";
import { shellCommand } from "../node/command-text.ts";
import { directoriesWithPlugin, INSTALLED, PLUGIN, PREVIOUS } from "../node/plugin-directories.ts";
import type { Finding } from "./finding.ts";

/**
 * Checks that this program is still where it was installed: other installers overwrite it. It was installed where there is
 * a marker, or a previous plugin that is another one; after a rollback, the previous plugin is this program.
 */
export function pluginFindings(system: OperatorSystem): readonly Finding[] {
  return directoriesWithPlugin(system).flatMap(({ directory }): readonly Finding[] => {
    const [target, previous] = [join(directory, PLUGIN), join(directory, PREVIOUS)];
    const isMarked = exists(system, join(directory, INSTALLED));
    if (!(isMarked || exists(system, previous)) || isOurs(system, target)) return [];
    if (!isMarked && isOurs(system, previous)) return [];
    return [
      {
        code: "plugin-replaced",
        location: undefined,
        path: target,
        message: exists(system, target)
          ? "this program was installed here, and was replaced by another one"
          : "this program was installed here, and was removed",
        commands: [shellCommand(["host-local", "install", directory])],
      },
    ];
  });
}
