/** Findings on what valid configurations say in vain. */

import { textOf } from "../../cli/command/json-values.ts";
import { DEFAULT_DATA_DIR } from "../../ipam/config.ts";
import type { Configuration } from "../configured/configurations.ts";
import { type FileUse, isUnused } from "../configured/file-in-use.ts";
import { mainPluginOf } from "../configured/main-plugin.ts";
import { makerOf } from "../configured/maker.ts";
import { unreadKeys } from "../configured/unread-keys.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";
import { namedPods } from "./holder.ts";

/** Checks the configurations that use this plugin, and those that cannot be read. */
export function configurationFindings(node: Node): readonly Finding[] {
  const { uses, configurations } = node;
  const findings = configurations.flatMap((configuration): readonly Finding[] => {
    const network = textOf(configuration.document.name);
    if (!node.isAsked(network)) return [];
    const use = uses.get(configuration.file);
    const onUse = use === undefined ? [] : useFinding(node, configuration, use);
    if (isUnused(use)) return onUse;
    const about = { network, path: configuration.source };
    const unread = unreadKeys(configuration).map(
      (message) => ({ ...about, code: "unread-key", message }) as const,
    );
    return [...onUse, ...unread];
  });
  const unread = node.problems.map(({ source: path, problem: message }) => {
    return { code: "unreadable-configuration", network: "", path, message } as const;
  });
  // Each plugin of a list has the same finding.
  const distinct = [
    ...new Map(findings.map((finding) => [JSON.stringify(finding), finding])).values(),
  ];
  return [...(distinct.length > 0 ? [] : noNetworkFindings(node)), ...unread, ...distinct];
}

function noNetworkFindings({ context, networks, places, problems }: Node): readonly Finding[] {
  if (networks.length > 0 || problems.length > 0) return [];
  const dataDir = context.option("--data-dir") ?? DEFAULT_DATA_DIR;
  const message = `no network: none is configured in ${places.candidates.join(", ")}, and none has a directory in ${dataDir}`;
  return [{ code: "no-networks", network: "", path: "", message }];
}

/**
 * A finding on a file that not every runtime uses. There is none on a copy, which says the same, nor on the networks that
 * podman and nerdctl make for themselves.
 */
function useFinding(node: Node, { document }: Configuration, use: FileUse): readonly Finding[] {
  const { why: message, other } = use;
  if (message === undefined) return [];
  if (JSON.stringify(use.file.document) === JSON.stringify(other?.document)) return [];
  const { source } = use.file;
  const network = textOf(document.name);
  const finding = { code: "shadowed-configuration", network, path: source, message } as const;
  if (use.kind !== "byName" && use.kind !== "unread") return [finding];
  if (makerOf({ source, ...mainPluginOf(document) }) !== undefined) return [];
  const pods = podsOf(node, network);
  const remedy = use.kind === "byName" ? MOVE_UNMEANT : pods.length === 0 ? UNREAD : MOVE;
  if (pods.length === 0) return [{ ...finding, severity: "info", remedy }];
  const severity = use.kind === "byName" ? "warning" : "error";
  const text = `${message}; its pods of Kubernetes run, and their DEL is called with another configuration: ${namedPods(pods)}`;
  return [{ ...finding, severity, message: text, remedy }];
}

/** The pods of Kubernetes that live in a network, by name. */
function podsOf({ cache, directories, liveness }: Node, network: string): readonly string[] {
  const pods = directories
    .filter(({ files }) => files.network === network)
    .flatMap((directory) => liveness.livenessIn(directory))
    .filter(({ conclusion }) => conclusion.liveness === "alive")
    .map(({ reservation }) => cache.podOf(reservation));
  // Pods of other runtimes have no namespace, or no name.
  return [...new Set(pods.filter((pod) => pod.includes("/")))];
}

/** The remedy where the files are of two networks. */
const MOVE_UNMEANT =
  "drain the node, then move the file that is not meant out of its directory. Nothing is wrong where podman, nerdctl, multus or CRI-O (cni_default_network) uses this network by its name";

/** The remedy where no runtime reads the directory any more, though it did. */
const MOVE =
  "name this directory in the configuration of the runtime again, or move the file to the one that it reads: until then these pods can neither be deleted nor replaced";

/** The remedy where no runtime reads the directory. */
const UNREAD =
  "if the network is meant for pods, move the file to the directory that their runtime reads, on a drained node if it sorts first there; otherwise remove it, unless podman or nerdctl uses this network by its name";
