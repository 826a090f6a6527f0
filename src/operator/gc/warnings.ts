/** What `gc` cannot decide, and what to use instead. */

import { CommandError, type Context } from "../../cli/command/command.ts";
import { formatAddress } from "../../ipam/address.ts";
import { liveCommandOf } from "../node/live-command.ts";
import type { Missing } from "../node/liveness.ts";
import type { NetworkDirectory } from "../node/network-directory.ts";
import { commandText } from "../node/next-command.ts";
import { cacheDirOf } from "../node/results-cache.ts";
import type { Collection } from "./gc-report.ts";

/** Warnings about the reservations of a network whose namespaces contradict the list, or do not decide. */
export function warningsOn(context: Context, collection: Collection): readonly string[] {
  const { directory, decided, refused } = collection;
  if (refused !== undefined) return [];
  const { network } = directory.files;
  const inUse = decided.filter(({ decision }) => decision === "inUse");
  const [first] = inUse;
  const contradictions =
    first === undefined
      ? []
      : [
          `${network}: ${inUse.length} of ${decided.length} reservations are listed as dead, but their network namespaces still exist (${formatAddress(first.reservation.address)}: ${first.containerState.reason}). Most likely the list is incomplete. Only if these containers are gone, add --ignore-netns`,
        ];
  const unread = decided.filter(
    ({ decision, containerState: { missing } }) => decision === "unknown" && missing === "cache",
  );
  const unreadable = unread
    .slice(0, 1)
    .map(
      ({ containerState: { reason } }) =>
        `${network}: ${unread.length} of ${decided.length} reservations cannot be decided: ${reason}. Only if their containers are gone, use a list with --ignore-netns`,
    );
  const reservations = decided.map(({ reservation }) => reservation);
  const undecided = missingTexts(context).flatMap(([missing, text]) => {
    const count = decided.filter(
      ({ decision, containerState }) =>
        decision === "unknown" && containerState.missing === missing,
    ).length;
    if (count === 0) return [];
    const command = liveCommandOf(directory.networks[0], reservations);
    return [
      `${network}: ${count} of ${decided.length} reservations cannot be decided by network namespaces: ${text}. Use --live-command '${command}'`,
    ];
  });
  return [...contradictions, ...unreadable, ...undecided];
}

function missingTexts(context: Context): readonly (readonly [Missing, string])[] {
  const cache = `libcni's cache (${cacheDirOf(context)}/results)`;
  return [
    [
      "namespacePath",
      `${cache} names no network namespace for them, as that of containerd 1.6 and others with libcni before 1.3`,
    ],
    ["cacheEntry", `${cache} does not know their containers`],
    [
      "view",
      "whether their network namespaces exist cannot be seen; run this on the node itself, as root, while a pod runs there",
    ],
  ];
}

/** That `--yes` needs a source. */
export function noSource(directories: readonly NetworkDirectory[]): CommandError {
  return new CommandError(
    `gc: --yes needs one of --live, --live-command and --by-netns, such as --live-command '${commandFor(directories)}'`,
  );
}

/** What to run after a dry run without a source. */
export function sourceHint(context: Context, directories: readonly NetworkDirectory[]): string {
  const [first, ...others] = directories;
  const files = others.length === 0 ? first?.files : undefined;
  const words = [...context.operands, "--live-command", commandFor(directories), "--yes"];
  return `This was a dry run by network namespaces. To release: ${commandText(context, files, ["gc", ...words])}`;
}

function commandFor([first]: readonly NetworkDirectory[]): string {
  return first === undefined
    ? "crictl pods -q"
    : liveCommandOf(first.networks[0], first.reservations);
}
