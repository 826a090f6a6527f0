/**
 * The dry run: what would become of the ADD of a pod that asks for nothing. It reads what an ADD reads, in its order and by its
 * code, and stops before the first write.
 */

import { readResolvConf } from "../configuration/resolv-conf-file.ts";
import { formatAddress } from "../ipam/address.ts";
import type { IpamConfig, Reuse } from "../ipam/config.ts";
import type { RangeSet } from "../ipam/range-set.ts";
import type { NetworkFiles } from "../store/files/network-files.ts";
import { Journal } from "../store/journal/journal.ts";
import { type ReservationStates, reservationStates } from "../store/journal/reservation-states.ts";
import { AddressUse, type AddressUser } from "../store/namespaces/address-use.ts";
import type { NamespaceStates } from "../store/namespaces/namespace-state.ts";
import { type NoAddressError, noAddressIn } from "../store/no-address.ts";
import { type Obtainable, obtainableInOrder, type Taken } from "../store/obtainable.ts";
import { cursorPath, readCursor } from "../store/reservations/cursor.ts";
import { othersIn, readAll } from "../store/reservations/directory-scan.ts";
import type { Reservation } from "../store/reservations/reservation-file.ts";
import { type Preferences, ReusedAddresses } from "../store/reuse/reuse.ts";
import { type AddressFiles, attempt, recover, SystemError } from "../system/system.ts";
import { requireWritableStore } from "./writable-store.ts";

/** What an ADD would come to in a range set: an address, or the error that there is none. */
export type Prospect = Obtainable | NoAddressError;

/** What of a configuration the dry run needs. */
type DryRunConfig = Pick<
  IpamConfig,
  "rangeSets" | "exclusions" | "reserved" | "reclaims" | "reuse" | "resolvConf"
>;

/** Gives all files of the directory, which are read once, as an ADD does. */
type Search = () => AddressFiles;

/** How the dry run is asked. */
interface DryRunOptions {
  /** Which range sets are looked at; by default all. */
  readonly isAsked?: (set: RangeSet) => boolean;
  /** What became of network namespaces, if the caller has looked; by default as they are now. */
  readonly states?: NamespaceStates;
  /** Which addresses are in use, likewise. */
  readonly use?: AddressUse;
  /** Whether an error that keeps the caller from writing would stop an ADD, too; by default it would. */
  readonly isRefused?: (error: SystemError) => boolean;
}

/**
 * What the ADD of a pod that asks for nothing would come to, in each range set. It writes nothing and takes no lock; whether
 * containers live is asked only where a set has no free address.
 *
 * @param config with the exclusions for the pod
 * @returns one for each range set that was asked for, in their order
 * @throws CniError 999, or SystemError, where ADD fails whatever is free
 */
export function dryRun(
  files: NetworkFiles,
  config: DryRunConfig,
  {
    isAsked = () => true,
    states,
    use = new AddressUse(files),
    isRefused = () => true,
  }: DryRunOptions = {},
): readonly Prospect[] {
  readResolvConf(files.system, config.resolvConf);
  const require = (what: () => void): void =>
    recover(what, (error) => {
      if (isRefused(error)) throw error;
    });
  require(() => requireWritableStore(files));
  for (const index of config.rangeSets.keys()) require(() => requireReplaceable(files, index));
  let scan: AddressFiles | undefined;
  const search = (): AddressFiles => {
    scan ??= readAll(files);
    return scan;
  };
  let preferences: Preferences | undefined;
  const taken = takenIn(files, states, use, search);
  const prospectOf = (set: RangeSet, index: number): Prospect => {
    preferences ??= reuseOf(files, config.reuse, search).preferencesFor(undefined);
    const cursor = readCursor(files, index, () => {});
    const asked = { ...config, set, cursor, preferences };
    const used = new Map<string, AddressUser>();
    for (const prospect of obtainableInOrder(files, asked, taken)) {
      if (prospect.kind === "used")
        used.set(formatAddress(prospect.candidate.address), prospect.user);
      else if (prospect.kind !== "free" || !taken.use.isReserved(prospect.candidate.address))
        return prospect;
    }
    return noAddressIn(files, { ...config, set }, taken.unusual(), used);
  };
  return config.rangeSets.flatMap((set, index) => (isAsked(set) ? [prospectOf(set, index)] : []));
}

/** An ADD that finds a journal which is not current reads all files, and notes what others have released. */
function reuseOf(files: NetworkFiles, reuse: Reuse, search: Search): ReusedAddresses {
  const reused = new ReusedAddresses(files, reuse);
  if (!reused.isAsked) return reused;
  const journal = new Journal(files, { excludesGoPlugin: true });
  if (journal.isStale()) reused.released(...journal.missingIn(search()));
  return reused;
}

/** What others have reserved, each read once, when it is asked for. */
function takenIn(
  files: NetworkFiles,
  states: NamespaceStates | undefined,
  use: AddressUse,
  search: Search,
): Taken {
  let unusual: readonly Reservation[] | undefined;
  let recorded: ReservationStates | undefined;
  return {
    use,
    reclaimable: (wantedBy) => {
      recorded ??= reservationStates(files, states);
      return recorded.reclaimable(wantedBy, use);
    },
    unusual: () => {
      unusual ??= othersIn(search());
      return unusual;
    },
  };
}

/** Checks that ADD can write the cursor of a range set: into the file that is there, or in place of a link. */
function requireReplaceable(files: NetworkFiles, index: number): void {
  const { system } = files;
  const path = cursorPath(files, index);
  const kind = attempt(() => system.linkStatus(path).kind, undefined, "ENOENT");
  if (kind === "directory") throw new SystemError("open", path, "EISDIR");
  if (kind === "file") attempt(() => system.requireOpenable(path, "write"), undefined, "ENOENT");
  const isLink = (): boolean => attempt(() => system.readLink(path), undefined) !== undefined;
  if (kind === "other" && !isLink()) throw new SystemError("open", path, "ENXIO");
}
