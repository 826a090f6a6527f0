/** Findings on what valid configurations say in vain. */

import type { Context } from "../../cli/command/command.ts";
import { exactMember, textOf } from "../../cli/command/json-values.ts";
import { CniError } from "../../cni/error.ts";
import { valueInAnyCase } from "../../cni/json.ts";
import { requireAllowed } from "../../cni/version.ts";
import {
  type ConfigurationFile,
  isList,
  isTrue,
  networkOf,
  type Preceding,
} from "../configured/configuration-files.ts";
import type { Configuration } from "../configured/configurations.ts";
import { whyShadowed } from "../configured/found-network.ts";
import { pluginNames } from "../configured/plugin-directories.ts";
import { nearlyIpam, repeatedIn, unreadInList, unreadInPlugin } from "../configured/unread-keys.ts";
import type { Node } from "../node.ts";
import { type Finding, WITHOUT_IPAM } from "./finding.ts";

/**
 * Checks the configurations that use this plugin.
 *
 * @param isSelected only those of networks whose name this holds for
 */
export function configurationFindings(
  { context, files, preceded, configurations }: Node,
  isSelected: (network: string) => boolean,
): readonly Finding[] {
  const told = new Set<ConfigurationFile>();
  const said = new Set<string>();
  const ofPlugin = configurations.flatMap((configuration): readonly Finding[] => {
    const network = textOf(configuration.document.name);
    if (!isSelected(network)) return [];
    const about = { network, path: configuration.source };
    const { file } = configuration;
    const preceding = preceded.get(file);
    if (preceding !== undefined) {
      const findings = told.has(file) ? [] : shadowedFinding(about, file, preceding);
      told.add(file);
      return findings;
    }
    // Of the list the same is said with each of its plugins.
    const onKeys = unreadIn(configuration).flatMap((message) => {
      const key = `${configuration.source} ${message}`;
      if (said.has(key)) return [];
      said.add(key);
      return [{ ...about, code: "unread-key", message } as const];
    });
    const reason = whyNoGc(configuration);
    if (reason === undefined) return onKeys;
    const message = `the entry with gcOnly gets no GC: ${reason}`;
    return [...onKeys, { ...about, code: "gc-not-called", message }];
  });
  return [...withoutIpam(context, files, isSelected, preceded), ...ofPlugin];
}

/** Findings on plugins that have `ipam` under another name, so that they do not use this plugin. */
function withoutIpam(
  { system }: Context,
  files: readonly ConfigurationFile[],
  isSelected: (network: string) => boolean,
  preceded: ReadonlyMap<ConfigurationFile, Preceding>,
): readonly Finding[] {
  const names = pluginNames(system);
  return files.flatMap((file) => {
    const about = { network: networkOf(file), path: file.source };
    if (!isSelected(about.network)) return [];
    const isUsed = file.refusal === undefined && !preceded.has(file);
    return nearlyIpam(file.document, names).map((message): Finding => {
      const finding = { ...about, code: "unread-key", message } as const;
      if (!isUsed) return finding;
      return {
        ...finding,
        severity: "error",
        message: `${message} Pods of this network get no address, and no error`,
        remedy: WITHOUT_IPAM,
      };
    });
  });
}

/** So many sentences on the keys of one plugin are listed. */
const MOST_SENTENCES = 100;

/** What is to be said of its keys, and of those of its file. */
function unreadIn(configuration: Configuration): readonly string[] {
  const all = allUnreadIn(configuration);
  if (all.length <= MOST_SENTENCES) return all;
  const more = `${all.length - MOST_SENTENCES} more keys are without effect, or there more than once`;
  return [...all.slice(0, MOST_SENTENCES), more];
}

function allUnreadIn({ document, path, source, file }: Configuration): readonly string[] {
  const text = file.appended.find((one) => one.source === source)?.text ?? file.text;
  const ofList = source === file.source && isList(file) ? unreadInList(file.document) : [];
  return [...ofList, ...unreadInPlugin(document, path), ...repeatedIn(text)];
}

/** A file that another precedes; nothing of a copy, which says the same, and of what no runtime could use anyway. */
function shadowedFinding(
  about: Pick<Finding, "network" | "path">,
  file: ConfigurationFile,
  { file: first, isForAll }: Preceding,
): readonly Finding[] {
  const isCopy = JSON.stringify(file.document) === JSON.stringify(first.document);
  if (isCopy || file.refusal !== undefined) return [];
  const message = whyShadowed(about.network, first.source, isForAll);
  return [{ ...about, code: "shadowed-configuration", message }];
}

/** Why no runtime sends GC to an entry that is there for it alone (`GCNetworkList` of libcni); `undefined` where one may. */
function whyNoGc({ document, file }: Configuration): string | undefined {
  if (valueInAnyCase(document, "gcOnly") !== true) return undefined;
  if (isTrue(exactMember(file.document, "disableGC"))) return "its list has disableGC";
  const version = textOf(document.cniVersion) || "0.1.0";
  try {
    requireAllowed("GC", version);
    return undefined;
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    return `the cniVersion of its list is ${version}, and runtimes send GC from 1.1.0 on`;
  }
}
