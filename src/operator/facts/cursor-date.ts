/**
 * When an ADD of a network last moved a cursor, whichever `host-local` that was: nothing else does, and each that reserves does,
 * but for a pod with an address of its own (`ipam.reserved`).
 */

import { attempt, type System } from "../../system/system.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";

const CURSOR = /^last_reserved_ip\.[0-9]+$/;

/** Reads the date of the cursor that was moved last, in milliseconds since the epoch; `undefined` where none is seen. */
export function readCursorDate(
  { listAddresses, status }: Pick<System, "listAddresses" | "status">,
  { files }: Pick<NetworkDirectory, "files">,
): number | undefined {
  const names = attempt(() => listAddresses(files.directory).others, []);
  const dates = names
    .filter((name) => CURSOR.test(name))
    .flatMap((name) => attempt(() => [status(files.pathOf(name)).modified], []));
  return dates.length === 0 ? undefined : Math.max(...dates.map((one) => Number(one / 1_000_000n)));
}
