/** A scratch node with network configurations, and reservations made by plugins. */

import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Test } from "tap";
import { scratchDirectory } from "../blackbox/data-directory.ts";
import { executable, type Outcome, run } from "../blackbox/executable.ts";
import { attachmentCall, type Json, type JsonObject } from "../blackbox/runtime-call.ts";
import { type ToolOptions, tool } from "./tool.ts";

/** What varies from ADD to ADD. */
export interface AddOptions {
  readonly program?: string;
  readonly interfaceName?: string;
  readonly cniArgs?: string;
}

/** A node below a scratch directory. */
export interface Node {
  readonly root: string;
  /** The configuration directory. */
  readonly confDir: string;
  /** The data directory. */
  readonly dataDir: string;
  /** The directory of libcni's cache. */
  readonly cacheDir: string;
  /** Writes a configuration file, an object as JSON, and returns its path. */
  readonly configure: (file: string, content: Json) => string;
  /** ADD for a container to the network of this name; `ipam` is merged into its IPAM configuration. */
  readonly add: (
    network: string,
    ipam: JsonObject,
    containerId: string,
    options?: AddOptions,
  ) => void;
  /** Writes a file below the data directory. */
  readonly write: (path: string, content: string) => void;
  /** Sets the time of a file in the data directory back by this many seconds. */
  readonly age: (path: string, seconds: number) => void;
  /** Writes an entry of libcni's cache. */
  readonly remember: (
    network: string,
    containerId: string,
    pod: string,
    interfaceName?: string,
  ) => void;
  /** Runs a command on this node, its configurations and its cache. */
  readonly tool: (words: readonly string[], options?: ToolOptions) => Outcome;
}

/** Makes a node that is gone after the test. */
export function nodeFor(t: Pick<Test, "teardown">): Node {
  const root = scratchDirectory(t);
  const [confDir, dataDir, cacheDir] = ["net.d", "networks", "cache"].map((name) => {
    mkdirSync(join(root, name));
    return join(root, name);
  }) as [string, string, string];
  mkdirSync(join(cacheDir, "results"));
  const write = (path: string, content: string): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content, { mode: 0o600 });
  };
  return {
    root,
    confDir,
    dataDir,
    cacheDir,
    configure: (file, content) => {
      const path = join(confDir, file);
      writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
      return path;
    },
    add: (network, ipam, containerId, { program = executable, ...options } = {}) => {
      const configuration = {
        cniVersion: "1.0.0",
        name: network,
        ipam: { type: "host-local", dataDir, ...ipam },
      };
      const { exitCode, stdout } = run(
        program,
        attachmentCall("ADD", { containerId, ...options }, configuration),
      );
      if (exitCode !== 0) throw new Error(stdout);
    },
    write: (path, content) => write(join(dataDir, path), content),
    age: (path, seconds) => {
      const then = Date.now() / 1000 - seconds;
      utimesSync(join(dataDir, path), then, then);
    },
    remember: (network, containerId, pod, interfaceName = "eth0") => {
      const [namespace = "", name = ""] = pod.split("/");
      const entry = {
        kind: "cniCacheV1",
        containerId,
        ifName: interfaceName,
        networkName: network,
        cniArgs: [
          ["IgnoreUnknown", "1"],
          ["K8S_POD_NAMESPACE", namespace],
          ["K8S_POD_NAME", name],
          ["K8S_POD_INFRA_CONTAINER_ID", containerId],
        ],
      };
      write(
        join(cacheDir, "results", `${network}-${containerId}-${interfaceName}`),
        JSON.stringify(entry),
      );
    },
    tool: (words, options) => {
      const cache = takesCache(words) ? ["--cache-dir", cacheDir] : [];
      return tool([...words, "--conf-dir", confDir, ...cache], options);
    },
  };
}

function takesCache([command = ""]: readonly string[]): boolean {
  return ["list", "show", "release"].includes(command);
}

/** The text of a file of this repository or of a node. */
export function textOf(path: string): string {
  return readFileSync(path, "utf8");
}
