/** Findings on the plugin directories of the node. */

import type { Context } from "../../cli/command/command.ts";
import { exists } from "../../system/system.ts";
import {
  existingPluginDirectories,
  markedNames,
  PLUGIN,
} from "../configured/plugin-directories.ts";
import { describesThis } from "../install/ask.ts";
import { needsOf } from "../install/going-back.ts";
import { type PluginPlace, placeIn } from "../install/place.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";

/** Checks that this program is still where it was installed: other installers overwrite it. */
export function pluginFindings({ context, isOfAll }: Node): readonly Finding[] {
  if (!isOfAll) return [];
  const { system } = context;
  return existingPluginDirectories(system).flatMap(({ directory }) =>
    markedNames(system, directory).flatMap((name) => findingsOn(context, placeIn(directory, name))),
  );
}

function findingsOn(context: Context, place: PluginPlace): readonly Finding[] {
  const { system } = context;
  const { directory, target, name } = place;
  // The file is read and not started: others than root may have put it there.
  if (describesThis(system, target)) return [];
  const options = name === PLUGIN ? [] : ["--as", name];
  const about = {
    code: "plugin-replaced",
    network: "",
    path: target,
    commands: [{ run: [["host-local", "install", directory, ...options]] }],
  } satisfies Partial<Finding>;
  if (!exists(system, target)) {
    return [{ ...about, message: "this program was installed here, and was removed" }];
  }
  const message = "this program was installed here, and was replaced by another one";
  const needs = needsOf(context, name, "Go plugin");
  if (needs.length === 0) return [{ ...about, message }];
  const text = `${message}, which may not understand the configurations: ${needs.join("; ")}`;
  return [{ ...about, severity: "error", message: text }];
}
