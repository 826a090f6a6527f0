/** One step in the life of a data directory, and the facts by which it is chosen. */

import type { TreeEntry } from "../harness/data-directory.ts";
import type { Call } from "../harness/executable.ts";
import type { Random } from "../harness/random.ts";
import type { RandomConfiguration } from "./random-configuration.ts";

/** A plugin call; `@D@` in its standard input stands for the data directory. */
export interface CallStep {
  readonly kind: "call";
  readonly call: Call & { readonly stdin: string };
}

/** A change that somebody makes by hand. */
export interface TamperStep {
  readonly kind: "write" | "remove" | "directory" | "link";
  readonly path: string;
  readonly content: string;
}

/** One step, taken with both plugins. */
export type Step = CallStep | TamperStep;

/** The facts by which a step is chosen. */
export interface Situation {
  readonly random: Random;
  readonly configurations: readonly RandomConfiguration[];
  /** The files as they are now. */
  readonly tree: readonly TreeEntry[];
}

/** The containers with reservations in a data directory. */
export const containers = ["c1", "c2", "c3", "c10", "0a1b2c", "Pod_1.x-y"];

/** Their interfaces, the usual one most often. */
export const interfaces = ["eth0", "eth0", "eth0", "eth1", "net1.100"];

/**
 * Makes a step of a call.
 *
 * @param call the call, its standard input a text
 */
export function callStep({ environment, stdin }: Call): CallStep {
  return { kind: "call", call: { environment, stdin: String(stdin) } };
}

/**
 * Finds the files that name an attachment, exactly or in the legacy way, in all networks.
 *
 * @param tree the files
 * @param containerId the container
 * @param interfaceName its interface
 */
export function ownedBy(
  tree: readonly TreeEntry[],
  containerId: string,
  interfaceName: string,
): { readonly exact: readonly TreeEntry[]; readonly legacy: readonly TreeEntry[] } {
  const content = (entry: TreeEntry) => entry.content?.trim();
  return {
    exact: tree.filter((entry) => content(entry) === `${containerId}\r\n${interfaceName}`),
    legacy: tree.filter((entry) => content(entry) === containerId),
  };
}
