/** The journal as it is on disk: a seal of 256 bytes, and then a line for each change. */

import { existsSync, lstatSync, readFileSync, writeFileSync } from "node:fs";
import type { FaultNetwork } from "./network.ts";

const HEADER = 256;

const FORM = "host-local-journal 5";

/** What a seal says. */
export interface SealText {
  readonly form: string;
  readonly boot: string;
  /** The id of the machine; `-` where reservations may be another one's. */
  readonly machine: string;
  /** Inode and time of last modification of the network's directory, a space, and the time of its last change. */
  readonly directory: string;
  readonly reservations: string;
  readonly length: string;
  readonly renewed: string;
}

/** The path of a network's journal. */
export function journalOf(network: FaultNetwork): string {
  return network.ownPath("journal");
}

/** What stands in the journal below its seal. */
export function linesOf(network: FaultNetwork): readonly string[] {
  return readFileSync(journalOf(network), "utf8").slice(HEADER).split("\n").slice(0, -1);
}

/** A journal of these lines, sealed as it is right now, but for what is given. */
export function sealed(
  network: FaultNetwork,
  lines: readonly string[],
  claims: Partial<SealText> = {},
): string {
  const { ino, mtimeNs, ctimeNs } = lstatSync(network.path(""), { bigint: true });
  const text = lines.map((line) => `${line}\n`).join("");
  const length = String(HEADER + Buffer.byteLength(text));
  const seal: SealText = {
    form: FORM,
    boot: readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trimEnd(),
    machine: machineId(),
    directory: `${ino},${mtimeNs} ${ctimeNs}`,
    reservations: String(network.reserved().length),
    length,
    renewed: length,
    ...claims,
  };
  const words = [
    seal.form,
    seal.boot,
    seal.machine,
    seal.directory,
    seal.reservations,
    seal.length,
    seal.renewed,
  ];
  return `${words.join(" ").padEnd(HEADER - 1)}\n${text}`;
}

function machineId(): string {
  const text = existsSync("/etc/machine-id") ? readFileSync("/etc/machine-id", "latin1") : "";
  return /^[0-9a-f]{32}$/m.exec(text)?.[0] ?? "-";
}

/** Overwrites the journal, which changes nothing about the network's directory. */
export function writeJournal(network: FaultNetwork, content: string | Buffer): void {
  writeFileSync(journalOf(network), content, { mode: 0o600 });
}
