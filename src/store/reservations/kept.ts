/**
 * The addresses that an administrator keeps (`host-local reserve`), for a pod that need not be there, or for nobody. While
 * nobody has such an address, the file of its reservation says for whom it is kept. This file has them all, so that a release
 * knows what to keep again.
 */

import { type Address, formatAddress, parseAddress } from "../../ipam/address.ts";
import { attempt, exists } from "../../system/system.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import { type PodName, parsePodName } from "./owner.ts";

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

/** The addresses that are kept; needs no lock. */
export function readKept(files: NetworkFiles): readonly Kept[] {
  return attempt(() => requireKept(files), []);
}

/**
 * As `readKept`, where it matters that the file cannot be read.
 *
 * @throws SystemError
 */
export function requireKept({ state }: NetworkFiles): readonly Kept[] {
  const [header, ...lines] = state?.requireText(FILE, LARGEST).split("\n") ?? [];
  return header === FORM ? lines.flatMap(keptIn) : [];
}

/**
 * Writes all addresses that are kept.
 *
 * @throws SystemError
 */
export function writeKept({ state }: NetworkFiles, all: readonly Kept[]): void {
  const lines = all.map(({ name, pod }) => `${name} ${pod ?? NOBODY}`);
  state?.replaceLines(FILE, lines.length === 0 ? [] : [FORM, ...lines]);
}

/** Whether there may be any; no file is read. */
export function mayHaveKept({ system, state }: NetworkFiles): boolean {
  return state !== undefined && exists(system, state.pathOf(FILE));
}

function keptIn(line: string): readonly Kept[] {
  const [text = "", pod = ""] = line.split(" ");
  const address = parseAddress(text);
  const podName = parsePodName(pod);
  if (address === undefined || (podName === undefined && pod !== NOBODY)) return [];
  return [{ address, name: formatAddress(address), pod: podName }];
}
