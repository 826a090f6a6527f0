/** Findings on networks whose plugins are not where their runtime looks for them, or cannot be started. */

import { exactMember, listOf, textOf } from "../../cli/command/json-values.ts";
import { isIdentifier } from "../../cni/attachment.ts";
import { type Json, valueInAnyCase } from "../../cni/json.ts";
import { join } from "../../store/files/paths.ts";
import type { Configuration } from "../configured/configurations.ts";
import { isInUse } from "../configured/file-in-use.ts";
import { BUILDKIT_PREFIX, PLUGIN } from "../configured/plugin-directories.ts";
import type { Node } from "../node.ts";
import { onceFor } from "../once.ts";
import type { Finding } from "./finding.ts";
import { namedPods } from "./holder.ts";
import { type PluginDirectories, placesOf } from "./plugin-places.ts";
import { type PresentPlugin, presentPlugin } from "./present-plugin.ts";

/** A path of a plugin, and what is there. */
type Found = PresentPlugin & { readonly path: string };

/** Looks for the plugins of each network where its runtime does: one that is missing is one finding. */
export function missingPluginFindings(node: Node): readonly Finding[] {
  const presentAt = onceFor((path: string) => presentPlugin(node.context.system, path));
  const findings = node.configurations.flatMap((configuration): readonly Finding[] => {
    const network = textOf(configuration.document.name);
    if (!isInUse(node.uses.get(configuration.file)) || !node.isAsked(network)) return [];
    const names = neededBy(configuration);
    const places = placesOf(node, configuration, names);
    if (places === undefined) return [];
    return names.flatMap((name) => {
      const found = places.directories.map((directory): Found => {
        const path = join(directory, name);
        return { ...presentAt(path), path };
      });
      const wrong = whatIsWrong(places, name, found);
      return wrong === undefined ? [] : [{ code: "plugin-missing", network, ...wrong }];
    });
  });
  return inOne(findings);
}

/** What is wrong with a plugin of a network, by what is in each of the places. */
function whatIsWrong(
  { directories, runtime, likely }: PluginDirectories,
  name: string,
  found: readonly Found[],
): Omit<Finding, "code" | "network"> | undefined {
  const there = found.filter(({ kind }) => kind !== "nothing");
  if (there.length === 0) {
    const where = runtime && `, and ${runtime} looks in ${directories.join(", ")} alone`;
    return { path: join(likely, name), message: `there is no plugin${where ?? ""}` };
  }
  // A runtime starts the first that is there, whatever comes after it.
  const started = runtime === undefined ? there : there.slice(0, 1);
  const broken = started.find((plugin) => plugin.kind === "broken");
  if (broken?.kind !== "broken") return undefined;
  const { kind: _, ...said } = broken;
  const sound = started.find(({ kind }) => kind === "sound");
  if (sound === undefined) return said;
  const message = `${said.message}; ${sound.path} is one, and which of them the runtime starts is not known`;
  return { ...said, severity: "warning", message };
}

/** The plugins that the runtime starts for a configuration: its IPAM plugin, and those of the list. */
function neededBy({ document, file }: Configuration): readonly string[] {
  // flannel uses `host-local` by default.
  const ipam = typeOf(valueInAnyCase(document, "ipam")) || PLUGIN;
  const listed = file.isList
    ? (listOf(exactMember(file.document, "plugins")) as readonly Json[])
    : [file.document];
  const appended = file.appended.map((plugin) => plugin.document);
  const others = [document, ...listed, ...appended]
    .map(typeOf)
    .filter((type) => isIdentifier(type) && !type.startsWith(BUILDKIT_PREFIX));
  return [...new Set([ipam, ...others])];
}

function typeOf(plugin: Json | undefined): string {
  return textOf(valueInAnyCase(plugin, "type"));
}

/** What several networks need is missing once. */
function inOne(findings: readonly Finding[]): readonly Finding[] {
  const same = Map.groupBy(findings, ({ path, message }) => `${path} ${message}`);
  return [...same.values()].flatMap(([first, ...others]): readonly Finding[] => {
    if (first === undefined) return [];
    const names = new Set(others.map(({ network }) => network));
    names.delete(first.network);
    if (names.size === 0) return [first];
    return [{ ...first, message: `${first.message}; also needed by ${namedPods([...names])}` }];
  });
}
