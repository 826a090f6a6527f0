/**
 * The addresses that an administrator keeps (`host-local reserve`), for a pod that need not be there, or for nobody. This file
 * lists them. While nobody has one, the file of its reservation says for whom it is kept, so that the Go plugin does not hand
 * it out; a release writes that anew, an ADD of the pod replaces it.
 */

import { type Address, formatAddress, parseAddress } from "../../ipam/address.ts";
import { attempt, exists } from "../../system/system.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import { formatKept, type PodName, parsePodName } from "./owner.ts";

/** The name of the file, in the state directory. */
const FILE = "kept";

/** What the first line is. */
const FORM = "host-local-kept 1";

/** In place of a pod. */
const NOBODY = "-";

/** The file is not larger, in bytes. */
const LARGEST = 16 * 1024 * 1024;

/** An address that is kept. */
export interface Kept {
  readonly address: Address;
  /** The name of its reservation. */
  readonly name: string;
  /** `undefined` where it is for nobody. */
  readonly pod: PodName | undefined;
}

/** The addresses that are kept; none where that cannot be read. Needs no lock. */
export function readKept(files: NetworkFiles): readonly Kept[] {
  return attempt(() => requireKept(files), []);
}

/** Whether there may be any; no file is read. */
export function hasKept({ system, state }: NetworkFiles): boolean {
  return state !== undefined && exists(system, state.pathOf(FILE));
}

/**
 * Replaces a reservation by that of an address that is kept.
 *
 * @throws SystemError
 */
export function replaceByKept(files: NetworkFiles, { name, pod }: Kept): void {
  files.withTemporary(formatKept(pod), (temporary) =>
    files.system.rename(temporary, files.pathOf(name)),
  );
}

/**
 * Replaces what is listed for an address.
 *
 * @param changed the new entry; empty where it is kept no longer
 * @throws SystemError
 */
export function changeKept(files: NetworkFiles, name: string, changed: readonly Kept[]): void {
  const others = requireKept(files).filter((one) => one.name !== name);
  const lines = [...others, ...changed].map((one) => `${one.name} ${one.pod ?? NOBODY}`);
  files.state?.replaceLines(FILE, lines.length === 0 ? [] : [FORM, ...lines]);
}

/** @throws SystemError where the file cannot be read */
function requireKept({ state }: NetworkFiles): readonly Kept[] {
  const [header, ...lines] = state?.requireText(FILE, LARGEST).split("\n") ?? [];
  return header === FORM ? lines.flatMap(keptIn) : [];
}

function keptIn(line: string): readonly Kept[] {
  const [text = "", pod = ""] = line.split(" ");
  const address = parseAddress(text);
  const podName = parsePodName(pod);
  if (address === undefined || (podName === undefined && pod !== NOBODY)) return [];
  return [{ address, name: formatAddress(address), pod: podName }];
}
