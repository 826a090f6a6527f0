/** Findings on networks whose plugins are not where their runtime looks for them, or cannot be started. */

import { exactMember, listOf, textOf } from "../../cli/command/json-values.ts";
import { isIdentifier } from "../../cni/attachment.ts";
import { type Json, valueInAnyCase } from "../../cni/json.ts";
import { join } from "../../store/files/paths.ts";
import type { Configuration } from "../configured/configurations.ts";
import { isInUse } from "../configured/file-in-use.ts";
import { BUILDKIT_PREFIX, PLUGIN } from "../configured/plugin-directories.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";
import { type Places, placesOf } from "./plugin-places.ts";
import { type PresentPlugin, presentPlugin } from "./present-plugin.ts";

/** A plugin that a configuration needs. */
interface Needed {
  readonly name: string;
  /** Whether its `ipam` names it. */
  readonly isIpam: boolean;
}

type Found = PresentPlugin & { readonly path: string };

/** Looks for the plugins of each network where its runtime does: one that is missing is one finding. No program is started. */
export function missingPluginFindings(node: Node): readonly Finding[] {
  const { system } = node.context;
  const seen = new Map<string, PresentPlugin>();
  const findings = node.configurations.flatMap((configuration): readonly Finding[] => {
    const network = textOf(configuration.document.name);
    if (!isInUse(node.uses.get(configuration.file)) || !node.isAsked(network)) return [];
    const needed = neededBy(configuration);
    const names = needed.map(({ name }) => name);
    const places = placesOf(node, configuration, names);
    if (places === undefined) return [];
    return needed.flatMap(({ name, isIpam }) => {
      const found = places.directories.map((directory): Found => {
        const path = join(directory, name);
        const key = `${isIpam} ${path}`;
        const present = seen.get(key) ?? presentPlugin(system, path, isIpam);
        seen.set(key, present);
        return { ...present, path };
      });
      const about = { code: "plugin-missing", network, ...(!isIpam && { remedy: OTHER }) } as const;
      const wrong = whatIsWrong(places, name, found);
      return wrong === undefined ? [] : [{ ...about, ...wrong }];
    });
  });
  return inOne(findings);
}

const OTHER =
  "put the plugin of this name there, as whoever installs the network does, or correct its mode, or the type in the configuration: until then no pod of this network starts";

/** What is wrong with a plugin of a network, by what is in each of the places. */
function whatIsWrong(
  places: Places,
  name: string,
  found: readonly Found[],
): Omit<Finding, "code" | "network"> | undefined {
  const sound = found.find(({ kind }) => kind === "sound");
  const broken = found.find((one) => one.kind === "broken");
  if (places.kind === "said") {
    // The first that is there is started, whatever comes after it.
    const first = found.find(({ kind }) => kind !== "nothing");
    if (first?.kind === "sound") return undefined;
    if (first?.kind === "broken") return { path: first.path, ...first.said };
    const message = `there is no plugin, and ${places.runtime} looks in ${places.directories.join(", ")} alone`;
    return { path: join(places.directories[0] ?? "", name), message };
  }
  const { likely, unseen } = places;
  const reason = unseen === undefined ? "" : `: ${unseen}`;
  if (broken?.kind === "broken") {
    const { path, said } = broken;
    if (sound === undefined) return { path, ...said };
    const message = `${said.message}; ${sound.path} is one, and which of them the runtime starts is not known${reason}`;
    return { path, severity: "warning", ...said, message };
  }
  if (sound !== undefined) return undefined;
  const doubt = unseen === undefined ? "" : `; where the runtime looks is not known${reason}`;
  return { path: join(likely, name), message: `there is no plugin${doubt}` };
}

/** The plugins that the runtime starts for a configuration: this one, and those of the list. */
function neededBy({ document, file }: Configuration): readonly Needed[] {
  // flannel has it by default.
  const ipam = typeOf(valueInAnyCase(document, "ipam")) || PLUGIN;
  const listed = file.isList
    ? (listOf(exactMember(file.document, "plugins")) as readonly Json[])
    : [file.document];
  const appended = file.appended.map((one) => one.document);
  const others = [document, ...listed, ...appended]
    .map(typeOf)
    .filter((type) => type !== ipam && isIdentifier(type) && !type.startsWith(BUILDKIT_PREFIX));
  return [
    { name: ipam, isIpam: true },
    ...[...new Set(others)].map((name) => ({ name, isIpam: false })),
  ];
}

function typeOf(plugin: Json | undefined): string {
  return textOf(valueInAnyCase(plugin, "type"));
}

/** So many of the networks that need a plugin are named. */
const MOST_NAMED = 3;

/** What several networks need is missing once. */
function inOne(findings: readonly Finding[]): readonly Finding[] {
  const same = Map.groupBy(findings, ({ path, message }) => `${path} ${message}`);
  return [...same.values()].flatMap(([first, ...others]): readonly Finding[] => {
    if (first === undefined) return [];
    const names = [...new Set(others.map(({ network }) => network))].filter(
      (network) => network !== first.network,
    );
    if (names.length === 0) return [first];
    const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
    const message = `${first.message}; also needed by ${names.slice(0, MOST_NAMED).join(", ")}${more}`;
    return [{ ...first, message }];
  });
}
