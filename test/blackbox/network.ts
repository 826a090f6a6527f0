/** A network on a data directory of its own, and the calls that a runtime makes for it. */

import type { Test } from "tap";
import {
  type PriorFile,
  populate,
  reservedAddresses,
  scratchDirectory,
  type TreeEntry,
  treeOf,
} from "../harness/data-directory.ts";
import { executable, type Outcome, run, start } from "../harness/executable.ts";
import {
  type Attachment,
  attachmentCall,
  configuration,
  type JsonObject,
  networkCall,
} from "../harness/runtime-call.ts";

/** What varies from call to call, besides the container. */
export interface CallOptions extends Omit<Attachment, "containerId"> {
  /** The plugin to start instead of the executable under test. */
  readonly program?: string;
  /** Members that replace the network's own in `ipam`. */
  readonly ipam?: JsonObject;
  /** Further top-level members of the configuration. */
  readonly top?: JsonObject;
  /** The user number to run as. */
  readonly user?: number;
}

/** A network named `net`. */
export interface Network {
  /** The data directory. */
  readonly directory: string;
  readonly add: (containerId: string, options?: CallOptions) => Outcome;
  readonly del: (containerId: string, options?: CallOptions) => Outcome;
  readonly check: (containerId: string, options?: CallOptions) => Outcome;
  readonly gc: (top: JsonObject, options?: CallOptions) => Outcome;
  readonly status: (options?: CallOptions) => Outcome;
  /** As the methods above, without waiting. */
  readonly begin: (
    command: "ADD" | "DEL",
    containerId: string,
    options?: CallOptions,
  ) => Promise<Outcome>;
  /** The reserved addresses, in text order. */
  readonly reserved: () => string[];
  /** Everything in the data directory, except this project's own directory. */
  readonly tree: () => TreeEntry[];
}

/**
 * Makes a network on an empty data directory that is gone after the test.
 *
 * @param t the test that owns it
 * @param ipam the `ipam` section's members besides `type` and `dataDir`
 * @param files what stands in the data directory beforehand
 */
export function networkFor(
  t: Pick<Test, "teardown">,
  ipam: JsonObject,
  files: readonly PriorFile[] = [],
): Network {
  const directory = scratchDirectory(t);
  populate(directory, files);
  const configure = ({ ipam: changed = {}, top = {} }: CallOptions) =>
    configuration(directory, { ...ipam, ...changed }, top);
  const attach =
    (command: "ADD" | "CHECK" | "DEL") =>
    (containerId: string, options: CallOptions = {}) =>
      run(options.program ?? executable, {
        ...attachmentCall(command, { ...options, containerId }, configure(options)),
        ...(options.user === undefined ? {} : { user: options.user }),
      });
  const ask = (command: "GC" | "STATUS", options: CallOptions) =>
    run(options.program ?? executable, {
      ...networkCall(command, configure(options)),
      ...(options.user === undefined ? {} : { user: options.user }),
    });
  return {
    directory,
    add: attach("ADD"),
    del: attach("DEL"),
    check: attach("CHECK"),
    gc: (top, options = {}) => ask("GC", { ...options, top: { ...options.top, ...top } }),
    status: (options = {}) => ask("STATUS", options),
    begin: (command, containerId, options = {}) =>
      start(
        options.program ?? executable,
        attachmentCall(command, { ...options, containerId }, configure(options)),
      ),
    reserved: () => reservedAddresses(directory, "net"),
    tree: () => treeOf(directory),
  };
}

/**
 * Reads the addresses, without prefix lengths, out of a result of version 0.3.0 or later.
 *
 * @param outcome what an ADD answered
 * @returns the addresses, or none where there is no result
 */
export function grantedAddresses({ exitCode, stdout }: Outcome): string[] {
  if (exitCode !== 0) {
    return [];
  }
  const { ips = [] }: { ips?: readonly { readonly address: string }[] } = JSON.parse(stdout);
  return ips.map(({ address }) => address.replace(/\/.*/, ""));
}
