/** Findings on networks whose file is not the first: they get no pods, and the DELs of their running ones go to another. */

import { plural } from "../../cli/output/plural.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import { attempt, exists } from "../../system/system.ts";
import {
  type ConfigurationFile,
  callsOthers,
  networkOf,
} from "../configured/configuration-files.ts";
import { ownerOf } from "../gc/runtime-command.ts";
import type { NetworkDirectory, NodeReservation } from "../held/network-directory.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";
import { namedPods } from "./pods-in-subnet.ts";

/**
 * Looks for networks without a pod yet, and for pods of networks, whose files come after the first of their directory. The
 * runtimes of Kubernetes use the first file alone, be it for an ADD or for the DEL of a pod whose ADD another file was for.
 *
 * @param isSelected only networks for which this holds
 */
export function firstFileFindings(
  node: Node,
  isSelected: (directory: NetworkDirectory) => boolean,
): readonly Finding[] {
  const usable = node.files.filter((file) => node.isUsable(file));
  const byDirectory = [...Map.groupBy(usable, ({ directory }) => directory).values()];
  // A runtime may read another directory, in which such a network is the first.
  const inUse = new Set(byDirectory.flatMap(([first]) => (first ? [networkOf(first)] : [])));
  return byDirectory.flatMap(([first, ...others]) => {
    if (first === undefined || callsOthers(first)) return [];
    return others.flatMap((other) =>
      node.directories
        .filter((one) => isSelected(one) && isConfiguredBy(one, other))
        .filter(({ files }) => !inUse.has(files.network))
        .flatMap((directory) => findingOn(node, first, other, directory)),
    );
  });
}

function isConfiguredBy({ sources }: NetworkDirectory, file: ConfigurationFile): boolean {
  return [file, ...file.appended].some(({ source }) => sources.includes(source));
}

function findingOn(
  node: Node,
  first: ConfigurationFile,
  { source: path }: ConfigurationFile,
  directory: NetworkDirectory,
): readonly Finding[] {
  const { files } = directory;
  const { network } = files;
  if (!exists(node.context.system, files.directory)) return unusedFinding(first, path, directory);
  const pods = podsByRuntime(node, directory);
  if (pods.length === 0) return [];
  const changed = attempt(() => node.context.system.status(first.source).changed, undefined);
  // Of a pod that came later the runtime has told that it does use this network: its default is configured.
  const isUsed = pods.some(({ since = 0 }) => since > Number((changed ?? 0n) / 1_000_000n));
  const other = networkOf(first);
  const ofOther = node.cache.attachments.filter((one) => one.network === other);
  const inBoth = new Set(ofOther.map(({ containerId }) => containerId));
  const lost = pods.filter(({ owner }) => !inBoth.has(containerOf(owner)));
  if (isUsed || lost.length === 0) return [];
  const names = [...new Set(lost.map((one) => node.cache.podOf(one)))];
  const isOtherInUse = ofOther.some(
    (one) => node.liveness.livenessOfAttachment(one).liveness === "alive",
  );
  return [
    {
      code: "shadowed-configuration",
      network,
      path,
      message: `${first.source} comes first, and the runtimes of Kubernetes use it alone: ${network} has ${plural(names.length, "running pod")} whose DEL goes to ${other || "it"}, so that the addresses leak: ${namedPods(names)}`,
      remedy: isOtherInUse ? BOTH_IN_USE : ONE_IN_USE,
      commands: [{ files, words: ["gc", network] }],
    },
  ];
}

/** A network whose file does not come first; nothing on the networks that podman and nerdctl make for themselves. */
function unusedFinding(
  first: ConfigurationFile,
  path: string,
  { files: { network }, networks: [own] }: NetworkDirectory,
): readonly Finding[] {
  if (ownerOf(own) !== undefined) return [];
  const message = `${first.source} comes first, and the runtimes of Kubernetes use it alone: pods get addresses of ${networkOf(first)}, and none of ${network}`;
  const about = { code: "shadowed-configuration", severity: "info" } as const;
  return [{ ...about, network, path, message, remedy: UNUSED }];
}

const UNUSED =
  "if this network is meant, drain the node, and rename the file so that it comes first; nothing is wrong where podman, nerdctl or multus is to use it by its name";

const RESTART = "restart these pods, then release what they leave with gc";

/** Either network in use loses the DELs of the pods of the other. */
const BOTH_IN_USE = `${RESTART}; the other network has running pods, too, so its file has to stay where it is`;

const ONE_IN_USE = `if the network of that file is meant, ${RESTART}; otherwise rename that file so that it comes last, before these pods end. Nothing is wrong where the runtime is told which network is its default (cni_default_network of CRI-O)`;

/** The reservations of living pods to which the runtime itself attached this network. */
function podsByRuntime(
  { cache, liveness }: Node,
  { reservations }: NetworkDirectory,
): readonly NodeReservation[] {
  return liveness.livenessOfAll(reservations).flatMap(({ reservation, conclusion }) => {
    if (conclusion.liveness !== "alive") return [];
    // Those of podman have no namespace of Kubernetes.
    const isPod = cache.attachmentsByRuntime(reservation).some(({ pod }) => pod.includes("/"));
    return isPod ? [reservation] : [];
  });
}
