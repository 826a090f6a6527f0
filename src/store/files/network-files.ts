/** The files of a network. */

import type { NetworkName } from "../../cni/call.ts";
import { attempt, recover, type System, SystemError } from "../../system/system.ts";
import { type BootId, type MachineId, machineId, requireBootId } from "./boot-id.ts";
import { cleanPath, join } from "./paths.ts";
import {
  errnoOfFault,
  openStateDirectory,
  StateDirectory,
  type StateFault,
} from "./state-directory.ts";
import {
  abandonedIn,
  createTemporary,
  nameAndRemove,
  removeQuietly,
  type TemporaryPlace,
  withTemporaryIn,
} from "./temporary.ts";

/** The prefix of temporary files in the network's directory, which no address and no cursor has. */
const TEMPORARY_PREFIX = ".host-local-";

/** A network and its files; `openNetwork` makes it. */
export class NetworkFiles {
  readonly system: System;
  readonly network: NetworkName;
  /** A clean path. */
  readonly dataDir: string;
  /** `<dataDir>/<network>`: reservations and cursors, shared with the Go plugin. */
  readonly directory: string;
  /** The Go plugin's lock file. */
  readonly lockFile: string;
  /** `<dataDir>/.host-local/<network>`; its files are read and written through `state` alone. */
  readonly stateDirectory: string;
  /** `undefined` if the state directory may not be used: then there is no journal, and temporary files are in `directory`. */
  readonly state: StateDirectory | undefined;
  /** Why the state directory may not be used; `undefined` if it may. */
  readonly stateFault: StateFault | undefined;
  #boot: BootId | undefined;
  #machine: { readonly id: MachineId | undefined } | undefined;

  constructor(system: System, dataDir: string, network: NetworkName) {
    this.system = system;
    this.network = network;
    this.dataDir = dataDir;
    const prefix = join(dataDir, "");
    this.directory = `${prefix}${network}`;
    this.lockFile = `${this.directory}/lock`;
    const stateRoot = `${prefix}.host-local`;
    this.stateDirectory = `${stateRoot}/${network}`;
    const opened = openStateDirectory(system, stateRoot, this.stateDirectory);
    if (opened instanceof StateDirectory) this.state = opened;
    else this.stateFault = opened;
  }

  /**
   * The state directory, for a file that is to be written.
   *
   * @throws SystemError where it may not be used
   */
  requireState(name: string): StateDirectory {
    const { state, stateFault, stateDirectory } = this;
    if (state !== undefined) return state;
    throw new SystemError("open", join(stateDirectory, name), errnoOfFault(stateFault));
  }

  /** The path of a file in the network's directory. */
  pathOf(name: string): string {
    return `${this.directory}/${name}`;
  }

  /** The id of the running boot; `undefined` where it is not known. */
  boot(): BootId | undefined {
    return attempt(() => this.requireBoot(), undefined);
  }

  /**
   * The boot, as `boot`, where it matters that it could not be read.
   *
   * @throws SystemError
   */
  requireBoot(): BootId | undefined {
    this.#boot ??= requireBootId(this.system);
    return this.#boot;
  }

  /**
   * The id of the machine; `undefined` where it has none.
   *
   * @throws SystemError where that is not known
   */
  requireMachine(): MachineId | undefined {
    this.#machine ??= { id: machineId(this.system) };
    return this.#machine.id;
  }

  /**
   * Writes `content` to a temporary file and lets `name` give it a name by `link(2)` or `rename(2)`. The file is made in the
   * state directory or, where that is on another file system or not writable, in the network's directory.
   *
   * @returns what `name` returns
   * @throws SystemError
   */
  withTemporary<T>(content: string, name: (path: string) => T): T {
    const { system, state } = this;
    const path =
      state && attempt(() => createTemporary(system, state.temporary, content), undefined);
    const nameHere = (): T => withTemporaryIn(system, this.#temporary, content, name);
    if (path === undefined) return nameHere();
    return recover(() => nameAndRemove(system, path, name), nameHere, "EXDEV");
  }

  /** Removes the temporary files of killed calls from the state directory. */
  sweepTemporary(): void {
    const { system, state } = this;
    if (state === undefined) return;
    for (const path of abandonedIn(system, state.temporary)) removeQuietly(system, path);
  }

  /** Removes all temporary files of killed calls; it reads the network's directory, which may be large. */
  sweepAll(): void {
    for (const path of this.abandonedFiles()) removeQuietly(this.system, path);
  }

  /** The paths of all temporary files of killed calls; it reads the network's directory, which may be large. */
  abandonedFiles(): readonly string[] {
    const { system, state } = this;
    const own = state === undefined ? [] : abandonedIn(system, state.temporary);
    return [...own, ...abandonedIn(system, this.#temporary)];
  }

  get #temporary(): TemporaryPlace {
    return { directory: this.directory, mode: 0o755, prefix: TEMPORARY_PREFIX };
  }
}

/**
 * Opens a network: looks whether its state directory may be used. Creates nothing.
 *
 * @param dataDir `ipam.dataDir`, which may be relative or unclean
 */
export function openNetwork(system: System, dataDir: string, network: NetworkName): NetworkFiles {
  return new NetworkFiles(system, cleanPath(dataDir), network);
}
