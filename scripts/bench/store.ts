/** The data directories of the benchmark: one for each program, with the same reservations. */

import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** How many addresses a /16 hands out: all but network, gateway and broadcast. */
export const CAPACITY = 65_533;

/** What is measured. */
export type ProgramName = "go" | "native" | "portable";

export interface Store {
  /** The network's directory. */
  readonly directory: string;
  /** The network's configuration. */
  readonly configuration: string;
}

/** A program with the store that it works on. */
export interface Contender {
  readonly name: ProgramName;
  readonly executable: string;
  readonly store: Store;
}

/** A program with an empty store below a directory. */
export function contender(name: ProgramName, executable: string, parent: string): Contender {
  return { name, executable, store: createStore(mkdtempSync(join(parent, name))) };
}

/** Makes an empty store in a directory. */
function createStore(dataDir: string): Store {
  const directory = join(dataDir, "bench");
  mkdirSync(directory, { recursive: true });
  const routes = [{ dst: "0.0.0.0/0" }];
  const ipam = { type: "host-local", dataDir, subnet: "10.1.0.0/16", routes };
  const network = { cniVersion: "1.0.0", name: "bench", type: "bridge", bridge: "cni0", ipam };
  return { directory, configuration: JSON.stringify(network) };
}

/** Reserves the addresses from one place in the range up to another, as the Go plugin does. */
export function reserve({ directory }: Store, from: number, to: number): void {
  for (let place = from; place < to; place++) {
    const content = `${String(place).padStart(64, "f")}\r\neth0`;
    writeFileSync(join(directory, address(place)), content, { mode: 0o600, flag: "wx" });
  }
}

/** Removes the reservation of one place in the range. */
export function release({ directory }: Store, place: number): void {
  rmSync(join(directory, address(place)));
}

/** Sets the cursor to an address, by its place in the range. */
export function setCursor({ directory }: Store, place: number): void {
  writeFileSync(join(directory, "last_reserved_ip.0"), address(place), { mode: 0o600 });
}

/** Changes the directory as another program that has just written there. */
export function touch({ directory }: Store): void {
  const now = new Date();
  utimesSync(directory, now, now);
}

/** The address of a place in the range. */
export function address(place: number): string {
  const host = place + 2;
  return `10.1.${host >> 8}.${host & 0xff}`;
}
