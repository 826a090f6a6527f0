/** The data directories of the benchmark: one for each program, with the same reservations. */

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { isIPv4 } from "node:net";
import { join } from "node:path";

const NETWORK = "bench";

/** How many addresses a /16 hands out: all but network, gateway and broadcast. */
export const CAPACITY = 65_533;

export interface Store {
  readonly dataDir: string;
  /** The network's directory. */
  readonly directory: string;
  /** The file with the network's configuration. */
  readonly configuration: string;
}

/** Makes an empty store below a directory, and the configuration that names it. */
export function createStore(parent: string, name: string, cniVersion: string): Store {
  const dataDir = join(parent, name);
  const directory = join(dataDir, NETWORK);
  const configuration = join(parent, `${name}.json`);
  const ipam = {
    type: "host-local",
    dataDir,
    subnet: "10.1.0.0/16",
    routes: [{ dst: "0.0.0.0/0" }],
  };
  mkdirSync(directory, { recursive: true });
  writeFileSync(
    configuration,
    JSON.stringify({ cniVersion, name: NETWORK, type: "bridge", bridge: "cni0", ipam }),
  );
  return { dataDir, directory, configuration };
}

/** Reserves the addresses from one place in the range up to another, as the Go plugin does. */
export function reserve({ directory }: Store, from: number, to: number): void {
  for (let place = from; place < to; place++) {
    const content = `${containerId(`pod ${place}`)}\r\neth0`;
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

export function countReservations({ directory }: Store): number {
  return readdirSync(directory).filter(isIPv4).length;
}

/** An id as containerd makes them: 64 hexadecimal digits. */
export function containerId(seed: string): string {
  return createHash("sha256").update(seed).digest("hex");
}

function address(place: number): string {
  const host = place + 2;
  return `10.1.${host >> 8}.${host & 0xff}`;
}
