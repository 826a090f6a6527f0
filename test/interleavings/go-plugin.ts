/**
 * The Go plugin as other processes see it: its system calls in their order (v1.9.1, `plugins/ipam/host-local`). It reads a
 * configuration with our code, which other tests compare with the Go plugin.
 */

import { type AttachmentCall, receiveCall } from "../../src/cni/call.ts";
import { asCniError, internalError } from "../../src/cni/error.ts";
import { formatJson } from "../../src/cni/json.ts";
import { formatResult } from "../../src/cni/result.ts";
import { loadConfig } from "../../src/configuration/load-config.ts";
import { type Address, formatAddress, parseAddress } from "../../src/ipam/address.ts";
import { formatRangeSet, type RangeSet, rangeOf } from "../../src/ipam/range-set.ts";
import { type Candidate, candidates } from "../../src/ipam/round-robin.ts";
import { attempt, isSystemError, type System } from "../../src/system/system.ts";

/** Runs one ADD that requests no address, or one DEL, for a program whose `locks` are `as Go`. */
export function goPlugin(system: System): number {
  try {
    const call = receiveCall(system);
    if (call.verb === "ADD") add(system, call);
    else if (call.verb === "DEL") del(system, call);
    else throw new Error(`the model has no ${call.verb}`);
    return 0;
  } catch (error) {
    const { code, message } = asCniError(error);
    system.writeStandardOutput(formatJson({ code, msg: message }));
    return 1;
  }
}

function add(system: System, call: AttachmentCall): void {
  const config = loadConfig(call.network, call.arguments, system);
  const store = new Store(system, `${config.dataDir}/${config.network}`, call);
  const allocations: Candidate[] = [];
  try {
    for (const [index, set] of config.rangeSets.entries()) {
      allocations.push(allocate(store, set, index));
    }
  } catch (error) {
    for (const _ of allocations) store.locked(() => store.release());
    throw error;
  }
  const addresses = allocations.map(({ address, range }) => ({
    family: address.family,
    address: `${formatAddress(address)}/${range.prefixLength}`,
    gateway: range.gateway && formatAddress(range.gateway),
  }));
  const result = {
    addresses,
    routes: config.routes,
    dns: { nameservers: [], domain: "", search: [], options: [] },
  };
  system.writeStandardOutput(formatResult(result, call.network.version));
}

function allocate(store: Store, set: RangeSet, index: number): Candidate {
  return store.locked(() => {
    const held = store.find("both").flatMap((name) => parseAddress(name) ?? []);
    const duplicate = held.find((address) => rangeOf(set, address) !== undefined);
    if (duplicate !== undefined)
      throw internalError(`${formatAddress(duplicate)} has been allocated`);
    for (const candidate of candidates(set, store.cursor(index), [])) {
      if (store.reserve(candidate.address, index)) return candidate;
    }
    throw internalError(`no IP addresses available in range set: ${formatRangeSet(set)}`);
  });
}

function del(system: System, call: AttachmentCall): void {
  const config = loadConfig(call.network, call.arguments, system);
  const store = new Store(system, `${config.dataDir}/${config.network}`, call);
  for (const _ of config.rangeSets) store.locked(() => store.release());
}

/** `backend/disk`. */
class Store {
  readonly #system: System;
  readonly #directory: string;
  readonly #container: string;
  readonly #owner: string;

  constructor(system: System, directory: string, { attachment }: AttachmentCall) {
    this.#system = system;
    this.#directory = directory;
    this.#container = attachment.containerId;
    this.#owner = `${attachment.containerId}\r\n${attachment.interfaceName}`;
    system.makeDirectories(directory);
  }

  locked<T>(body: () => T): T {
    const request = { directory: undefined, timeout: Number.MAX_SAFE_INTEGER };
    const { release: unlock } = this.#system.lock({ ...request, file: `${this.#directory}/lock` });
    try {
      return body();
    } finally {
      unlock();
    }
  }

  cursor(index: number): Address | undefined {
    const text = attempt(() => this.#system.readFile(this.#cursorPath(index), 4096), "");
    return parseAddress(text.trim());
  }

  reserve(address: Address, index: number): boolean {
    const name = formatAddress(address);
    try {
      this.#system.createFile(`${this.#directory}/${name}`, this.#owner, 0o600);
    } catch (error) {
      if (isSystemError(error, "EEXIST")) return false;
      throw error;
    }
    this.#truncateAndWrite(this.#cursorPath(index), name);
    return true;
  }

  /** The files that name the attachment, or its container alone; errors of single files are ignored. */
  find(which: "both" | "exact" | "legacy"): readonly string[] {
    return this.#system.list(this.#directory).filter((name) => {
      const text = attempt(
        () => this.#system.readFile(`${this.#directory}/${name}`, 1e6),
        undefined,
      )?.trim();
      return (
        (which !== "legacy" && text === this.#owner) ||
        (which !== "exact" && text === this.#container)
      );
    });
  }

  release(): void {
    const exact = this.#removeAll("exact");
    if (!exact) this.#removeAll("legacy");
  }

  #removeAll(which: "exact" | "legacy"): boolean {
    const found = this.find(which);
    for (const name of found)
      attempt(() => this.#system.unlink(`${this.#directory}/${name}`), undefined);
    return found.length > 0;
  }

  /** `os.WriteFile`. */
  #truncateAndWrite(path: string, text: string): void {
    try {
      this.#system.overwriteFile(path, "");
      this.#system.extendFile(path, "", text);
    } catch (error) {
      if (!isSystemError(error, "ENOENT")) throw error;
      this.#system.createFile(path, text, 0o600);
    }
  }

  #cursorPath(index: number): string {
    return `${this.#directory}/last_reserved_ip.${index}`;
  }
}
