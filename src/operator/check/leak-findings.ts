/** Findings on reservations whose containers seem to be dead. */

import type { Context } from "../../cli/command/command.ts";
import { plural } from "../../cli/output/plural.ts";
import { formatAddress } from "../../ipam/address.ts";
import { isSystemError, type System } from "../../system/system.ts";
import { commandText } from "../node/command-text.ts";
import type { DirectoryContents } from "../node/directory-contents.ts";
import { type LivenessChecker, livenessOfAll } from "../node/liveness.ts";
import { containerOf, type NodeReservation } from "../node/node-reservations.ts";
import type { Pods } from "../node/pods.ts";
import type { Finding } from "./finding.ts";

/**
 * A younger reservation is not reported, in milliseconds: the runtime may be about to release it. After a restart of the
 * node, kubelet removes all pods from before within minutes.
 */
const GRACE = 10 * 60_000;

const LARGEST_UPTIME = 4096;

/** The number of reservations from before this boot, which give way by themselves. */
export function beforeBootFindings(
  context: Context,
  { directory: { location, networks }, reservations }: DirectoryContents,
): readonly Finding[] {
  const count = reservations.filter(({ isBeforeBoot }) => isBeforeBoot).length;
  if (count === 0) return [];
  const what = `${plural(count, "reservation")} from before this boot of the node`;
  const message = networks.every(({ reclaimsAfterReboot }) => reclaimsAfterReboot)
    ? `${what}; ADD uses the addresses again when the range is otherwise full`
    : `${what}; "reclaimAfterReboot": false keeps them`;
  const commands = [commandText(context, location, ["gc", location.network])];
  return [{ code: "before-boot", location, path: location.directory, message, commands }];
}

/** Checks for reservations whose network namespace is gone, or whose pod has long had another container. */
export function leakFindings(
  context: Context,
  directories: readonly DirectoryContents[],
  pods: Pods,
  checker: LivenessChecker,
): readonly Finding[] {
  const { system } = context;
  if (hasJustStarted(system)) return [];
  return directories.flatMap(({ directory: { location }, reservations }) => {
    const results = livenessOfAll(reservations, checker);
    const old = reservations.filter((reservation) => isOld(system, reservation));
    const newest = newestByPod(old, pods);
    const commands = [commandText(context, location, ["gc", location.network])];
    const counted = old.filter(({ isBeforeBoot }) => !isBeforeBoot);
    return counted.flatMap((reservation): readonly Finding[] => {
      const result = results.get(reservation);
      if (result?.liveness === "alive") return [];
      const clause =
        result?.liveness === "dead" ? result.reason : supersededBy(reservation, newest, pods);
      if (clause === undefined) return [];
      const container = containerOf(reservation.owner);
      const pod = pods.of(reservation);
      const holder = pod === "" ? container : `${container} of ${pod}`;
      const message = `${formatAddress(reservation.address)} is held by ${holder}: ${clause}`;
      return [{ code: "leaked-reservation", location, path: reservation.path, message, commands }];
    });
  });
}

/** A pod that was restarted has a new container in each of its networks. */
function supersededBy(
  reservation: NodeReservation,
  newest: ReadonlyMap<string, NodeReservation>,
  pods: Pods,
): string | undefined {
  const other = newest.get(pods.of(reservation));
  if (other === undefined || containerOf(other.owner) === containerOf(reservation.owner)) {
    return undefined;
  }
  return `the pod has had a newer container, ${containerOf(other.owner)}, for more than ten minutes`;
}

function newestByPod(
  reservations: readonly NodeReservation[],
  pods: Pods,
): ReadonlyMap<string, NodeReservation> {
  const newest = new Map<string, NodeReservation>();
  for (const reservation of reservations) {
    const pod = pods.of(reservation);
    const known = newest.get(pod);
    if (pod === "") continue;
    if (known === undefined || timeOf(reservation) > timeOf(known)) newest.set(pod, reservation);
  }
  return newest;
}

function isOld(system: System, reservation: NodeReservation): boolean {
  return containerOf(reservation.owner) !== "" && system.now() - timeOf(reservation) >= GRACE;
}

function timeOf({ since }: NodeReservation): number {
  return since ?? Number.POSITIVE_INFINITY;
}

/** `/proc/uptime` begins with the seconds since the start. */
function hasJustStarted(system: System): boolean {
  try {
    const [seconds = ""] = system.readFile("/proc/uptime", LARGEST_UPTIME).split(" ");
    return Number(seconds) * 1000 < GRACE;
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}
