/** The machine and its running boot. */

import { attempt, LARGEST_FILE, NO_FILE, type System } from "../../system/system.ts";

/** A text that the kernel makes at random at each boot. */
export type BootId = string & { readonly proof: "boot id" };

/** A text that the installation of an operating system has at random, and that no other machine has. */
export type MachineId = string & { readonly proof: "machine id" };

const PATH = "/proc/sys/kernel/random/boot_id";

const MACHINE_PATH = "/etc/machine-id";

/**
 * The id of the running boot; `undefined` where the kernel's text has another form. See random(4).
 *
 * @throws SystemError where it cannot be read, such as without `/proc`
 */
export function requireBootId(system: System): BootId | undefined {
  const text = system.readFile(PATH, 64).trimEnd();
  return isBootId(text) ? text : undefined;
}

/**
 * When the running boot began, by the wall clock and in nanoseconds since the epoch; `undefined` where the kernel does not
 * tell. See `btime` in proc_stat(5).
 */
export function bootTime(system: System): bigint | undefined {
  const stat = (): string => system.readFile("/proc/stat", LARGEST_FILE);
  const seconds = attempt(() => /^btime ([0-9]+)$/m.exec(stat())?.[1], undefined);
  return seconds === undefined ? undefined : BigInt(seconds) * 1_000_000_000n;
}

/**
 * The id of the machine, 32 hexadecimal digits; `undefined` where it has none. See machine-id(5).
 *
 * @throws SystemError where that is not known
 */
export function machineId(system: System): MachineId | undefined {
  const read = (): string => system.readFile(MACHINE_PATH, 64).trimEnd();
  const text = attempt(read, "", ...NO_FILE);
  return isMachineId(text) ? text : undefined;
}

/** Whether a text has the form of a machine id; one of zeros is none. */
export function isMachineId(text: string): text is MachineId {
  return /^(?!0{32})[0-9a-f]{32}$/.test(text);
}

/** Whether a text has the form of a boot id, a UUID. */
export function isBootId(text: string): text is BootId {
  return /^[0-9a-f-]{36}$/.test(text);
}
