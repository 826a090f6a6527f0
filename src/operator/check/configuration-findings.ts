/** Findings on what valid configurations say in vain. */

import type { Context } from "../../cli/command/command.ts";
import { exactMember, textOf } from "../../cli/command/json-values.ts";
import { CniError } from "../../cni/error.ts";
import { valueInAnyCase } from "../../cni/json.ts";
import { requireAllowed } from "../../cni/version.ts";
import { type ConfigurationFile, isTrue } from "../configured/configuration-files.ts";
import type { Configuration } from "../configured/configurations.ts";
import {
  type FileUse,
  fileInPlaceOf,
  isInUse,
  isUnused,
  whyNotUsed,
} from "../configured/file-in-use.ts";
import { bridgeIn } from "../configured/found-network.ts";
import { pluginNames } from "../configured/plugin-directories.ts";
import { nearlyIpam, unreadInList, unreadInPlugin } from "../configured/unread-keys.ts";
import { ownerOf } from "../gc/runtime-command.ts";
import type { Node } from "../node.ts";
import { FILES_OF_NETWORKS, type Finding, WITHOUT_IPAM } from "./finding.ts";

/**
 * Checks the configurations that use this plugin.
 *
 * @param isSelected only those of networks whose name this holds for
 */
export function configurationFindings(
  { context, files, uses, configurations }: Node,
  isSelected: (network: string) => boolean,
): readonly Finding[] {
  const told = new Set<ConfigurationFile>();
  const said = new Set<string>();
  const ofPlugin = configurations.flatMap((configuration): readonly Finding[] => {
    const network = textOf(configuration.document.name);
    if (!isSelected(network)) return [];
    const about = { network, path: configuration.source };
    const use = uses.get(configuration.file);
    const onUse = use === undefined || told.has(use.file) ? [] : useFinding(configuration, use);
    told.add(configuration.file);
    if (isUnused(use)) return onUse;
    // Of the list the same is said with each of its plugins.
    const onKeys = unreadIn(configuration).flatMap((message) => {
      const key = `${configuration.source} ${message}`;
      if (said.has(key)) return [];
      said.add(key);
      return [{ ...about, code: "unread-key", message } as const];
    });
    const reason = whyNoGc(configuration);
    if (reason === undefined) return [...onUse, ...onKeys];
    const message = `the entry with gcOnly gets no GC: ${reason}`;
    return [...onUse, ...onKeys, { ...about, code: "gc-not-called", message }];
  });
  return [...withoutIpam(context, files, isSelected, uses), ...ofPlugin];
}

/** Findings on plugins that have `ipam` under another name, so that they do not use this plugin. */
function withoutIpam(
  { system }: Context,
  files: readonly ConfigurationFile[],
  isSelected: (network: string) => boolean,
  uses: Node["uses"],
): readonly Finding[] {
  const names = pluginNames(system);
  return files.flatMap((file) => {
    const about = { network: file.network, path: file.source };
    if (!isSelected(about.network)) return [];
    return nearlyIpam(file.document, names).map((message): Finding => {
      const finding = { ...about, code: "unread-key", message } as const;
      if (!isInUse(uses.get(file))) return finding;
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
  const more = `${all.length - MOST_SENTENCES} more keys are without effect`;
  return [...all.slice(0, MOST_SENTENCES), more];
}

function allUnreadIn({ document, path, source, file }: Configuration): readonly string[] {
  const ofList = source === file.source && file.isList ? unreadInList(file.document) : [];
  return [...ofList, ...unreadInPlugin(document, path)];
}

/**
 * A file that not every runtime uses; nothing of a copy, which says the same, nor of the networks that podman and nerdctl make for
 * themselves.
 */
function useFinding(
  { source, document }: Configuration,
  use: FileUse<ConfigurationFile>,
): readonly Finding[] {
  const message = whyNotUsed(use);
  const other = fileInPlaceOf(use);
  if (message === undefined || other === undefined) return [];
  if (JSON.stringify(use.file.document) === JSON.stringify(other.document)) return [];
  const network = textOf(document.name);
  const finding = { code: "shadowed-configuration", network, path: source, message } as const;
  if (use.kind !== "byName") return [finding];
  if (ownerOf({ source, bridge: bridgeIn(document) }) !== undefined) return [];
  return [{ ...finding, severity: "info", remedy: FILES_OF_NETWORKS }];
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
