/** What new settings mean for a cluster whose nodes already have podCIDRs, in all its families. */

import { type Context, UsageError } from "../../cli/command/command.ts";
import { countOption } from "../../cli/command/count-option.ts";
import { plural, verbFor } from "../../cli/output/plural.ts";
import { decimal } from "../../ipam/decimal.ts";
import { clusterCidrsOf, nodeMasksOf } from "../nodes/cluster-options.ts";
import { leastOf } from "../nodes/node-mask.ts";
import { startFault } from "../nodes/obstacles.ts";
import {
  avoidTwoSizes,
  type CidrChange,
  changeOf,
  changeProblems,
  type Settings,
} from "./cidr-change.ts";
import { layOutCidrs } from "./cidr-layout.ts";
import type { CidrLayout, Problem } from "./cidr-request.ts";

/** What a change of settings means for the nodes. */
export interface PlannedChange {
  /** The families that the cluster has before and after the change. */
  readonly families: readonly CidrChange[];
  /** How many nodes there are. */
  readonly existing: bigint;
  /** How many the cluster is to have. */
  readonly wanted: bigint;
  /** How many further nodes get a podCIDR. */
  readonly further: bigint;
  /** How many of the nodes wanted are left without one. */
  readonly without: bigint;
  readonly problems: readonly Problem[];
}

/**
 * Computes the change from the settings of the `--was-` options.
 *
 * @param nodes how many nodes the cluster is to have
 * @returns `undefined` where none of these options was given, or kube-controller-manager does not start with the new ones
 * @throws UsageError where they leave a setting open, or no cluster can have had these settings
 */
export function plannedChange(
  context: Context,
  layouts: readonly CidrLayout[],
  nodes: bigint | undefined,
): PlannedChange | undefined {
  const now = layouts.flatMap((layout) => {
    const { cluster } = layout;
    return cluster === undefined ? [] : [{ ...layout, cluster }];
  });
  const was = formerSettings(context, now);
  if (was === undefined) return undefined;
  if (now.length === 0) throw new UsageError("expected --cluster-cidr with the --was- options");
  const isStarting = ({ family, clusterLength, nodeMask }: Settings): boolean =>
    startFault(family, clusterLength, nodeMask) === undefined;
  if (!now.every(isStarting)) return undefined;
  const capacity = leastOf(now.map((settings) => settings.nodes));
  const existing =
    countOption(context, "--was-nodes") ?? leastOf(was.map((settings) => settings.nodes));
  const wanted = nodes === undefined || nodes < existing ? existing : nodes;
  const families = was.flatMap((former) => {
    const present = now.find(({ family }) => family === former.family);
    return present === undefined ? [] : [changeOf(former, present, existing)];
  });
  const problems = [...families.flatMap(changeProblems), ...familyProblems(was, now)];
  const controllerStarts = problems.every(
    ({ code }) => code !== "outside" && code !== "family-order",
  );
  const further = controllerStarts
    ? leastOf([capacity, ...families.map(({ cidrsFree }) => cidrsFree)])
    : 0n;
  const withPodCidr = leastOf([existing, ...families.map((change) => change.withPodCidr)]);
  const without = wanted - withPodCidr - leastOf([further, wanted - withPodCidr]);
  if (without > 0n) {
    problems.push({
      code: "left-without",
      family: undefined,
      message: `${decimal(without)} of ${plural(wanted, "node")} would get no podCIDR, since ${further === 0n ? "no further node gets" : `only ${decimal(further)} more ${verbFor(further, "gets", "get")}`} one`,
      instead: [...new Set(families.map(avoidTwoSizes))].join("; ") || "a larger cluster CIDR",
    });
  }
  return { families, existing, wanted, further, without, problems };
}

/** The settings before the change: what is not given is unchanged. `undefined` where nothing is given. */
function formerSettings(
  context: Context,
  now: readonly Settings[],
): readonly Settings[] | undefined {
  const given = clusterCidrsOf(context, "--was-cluster-cidr");
  const masks = nodeMasksOf(context, "was-");
  if (given.length === 0 && masks.families.length === 0) return undefined;
  const clusters = given.length > 0 ? given : now.map(({ cluster }) => cluster);
  const families = clusters.map(({ address }) => address.family);
  return clusters.map((cluster) => {
    const { family } = cluster.address;
    const nodeMask =
      masks.of(family, families) ?? now.find((present) => present.family === family)?.nodeMask;
    if (nodeMask === undefined) {
      throw new UsageError(`expected --was-node-cidr-mask-size-ipv${family}`);
    }
    const serviceCidrs = now[0]?.serviceCidrs ?? [];
    const unknown = { nodes: undefined, pods: undefined };
    if (startFault(family, cluster.length, nodeMask) === undefined) {
      return { ...layOutCidrs({ family, cluster, serviceCidrs, nodeMask, ...unknown }), cluster };
    }
    throw new UsageError(
      `before the change: a cluster CIDR of /${cluster.length} cannot have a node mask of /${nodeMask}`,
    );
  });
}

/** kube-controller-manager compares a node's podCIDRs with the cluster CIDRs by their position in the list. */
function familyProblems(was: readonly Settings[], now: readonly Settings[]): readonly Problem[] {
  const former = was.map(({ family }) => family);
  const present = now.map(({ family }) => family);
  const problems: Problem[] = present
    .filter((family) => !former.includes(family))
    .map((family) => ({
      code: "family-new",
      family,
      message:
        "the nodes have no podCIDR of this family, and get none as long as they have one of the other",
      instead: "renumber them (see host-local audit)",
    }));
  if (former.some((family, at) => present[at] !== family)) {
    problems.push({
      code: "family-order",
      family: undefined,
      message:
        "a family is gone, or the families are in another order: kube-controller-manager compares a node's first podCIDR with the first cluster CIDR, and does not start while one is of another family, or has no cluster CIDR",
      instead: "keep the families and their order, or renumber the nodes first",
    });
  }
  return problems;
}
