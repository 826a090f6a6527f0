/** Where runtimes and distributions keep CNI plugins, and the configurations that use them. */

import { join } from "../../store/files/paths.ts";
import { attempt, LARGEST_FILE, type System } from "../../system/system.ts";
import { onceFor } from "../once.ts";
import { BUILT_IN_CONFIGURATIONS } from "./runtime.ts";
import { readRuntimes } from "./runtimes.ts";

/** The name of the plugin in configurations, and so of its file. */
export const PLUGIN = "host-local";

/** The beginning of the names of BuildKit's copies of plugins, in a directory of its own. */
export const BUILDKIT_PREFIX = "buildkit-cni-";

/** The name of BuildKit's copy of this plugin, for a network whose configuration BuildKit keeps in memory. */
export const BUILDKIT_PLUGIN = `${BUILDKIT_PREFIX}${PLUGIN}`;

/** The name of the other plugin that this program is when it is called by it. */
export const STATIC = "static";

/** The suffix, after a plugin's name, of a file that says that this program is installed, see `markerText`. */
export const INSTALLED = ".installed";

/** The beginning of a file `NAME.installed` of any version: this program was installed as NAME in its directory. */
function markerStart(name: string): string {
  return `${name} was installed in this directory; `;
}

/** What this version writes there. */
export function markerText(name: string): string {
  return `${markerStart(name)}host-local check reports when another program replaces it, and host-local install DIR --if-replaced puts it back.\n`;
}

/** A directory of CNI plugins. */
export interface PluginDirectory {
  readonly directory: string;
  /** The directory of the configurations whose plugins are here. */
  readonly configurations: string;
}

const K3S_CONFIGURATIONS = "/var/lib/rancher/k3s/agent/etc/cni/net.d";

/** The directory that k3s has used since its releases of October 2024; before, it used the other one. */
const K3S = "/var/lib/rancher/k3s/data/cni";
const K3S_BEFORE = "/var/lib/rancher/k3s/data/current/bin";

/** All known plugin directories, the most common one first. */
export const knownPluginDirectories: readonly PluginDirectory[] = [
  ...[
    // containerd, CRI-O, RKE2, k0s, Flatcar
    "/opt/cni/bin",
    // Debian, Ubuntu, SUSE
    "/usr/lib/cni",
    // Fedora, RHEL
    "/usr/libexec/cni",
    // nerdctl, podman
    ...["/usr/local/libexec/cni", "/usr/local/lib/cni"],
    // MicroShift
    "/run/cni/bin",
    // GKE
    "/home/kubernetes/bin",
    // A container that has the node's directory there.
    "/host/opt/cni/bin",
  ].map((directory) => ({ directory, configurations: BUILT_IN_CONFIGURATIONS })),
  // OpenShift
  { directory: "/var/lib/cni/bin", configurations: "/etc/kubernetes/cni/net.d" },
  { directory: K3S, configurations: K3S_CONFIGURATIONS },
  { directory: K3S_BEFORE, configurations: K3S_CONFIGURATIONS },
  // MicroK8s
  {
    directory: "/var/snap/microk8s/current/opt/cni/bin",
    configurations: "/var/snap/microk8s/current/args/cni-network",
  },
];

/**
 * The plugin directories of this node, looked for once: those that its runtimes name, and then the others in the order of
 * `knownPluginDirectories`. A directory with two names (MicroK8s links `/opt/cni/bin` to its own) is listed once, under the
 * name of the distribution.
 */
export const existingPluginDirectories = onceFor((system: System): readonly PluginDirectory[] => {
  const found = new Map<string, PluginDirectory>();
  const named = readRuntimes(system).flatMap(({ configurations, plugins = [] }) =>
    plugins.map((directory) => ({ directory, configurations })),
  );
  for (const known of [...named, ...knownPluginDirectories]) {
    const identity = identityOf(system, known.directory);
    if (identity !== undefined) found.set(identity, known);
  }
  const directories = [...found.values()];
  const replaced = directories.some(({ directory }) => directory === K3S) ? K3S_BEFORE : undefined;
  return directories.filter(({ directory }) => directory !== replaced);
});

/** The names under which this program was installed in a directory with `install --as`, or is marked as installed. */
export function markedNames(system: System, directory: string): readonly string[] {
  return attempt(() => system.list(directory), [])
    .filter((file) => file.endsWith(INSTALLED))
    .map((file) => file.slice(0, -INSTALLED.length))
    .filter((name) => isMarker(system, join(directory, `${name}${INSTALLED}`), name));
}

/** The names by which configurations call this plugin: `host-local`, BuildKit's, and those of `install --as` on this node. */
export function pluginNames(system: System): ReadonlySet<string> {
  const directories = existingPluginDirectories(system);
  const marked = directories.flatMap(({ directory }) => markedNames(system, directory));
  return new Set([PLUGIN, BUILDKIT_PLUGIN, ...marked.filter((name) => name !== STATIC)]);
}

/** Whether a file says that this program was installed as NAME; another program may have files of the same form. */
export function isMarker(system: System, path: string, name: string): boolean {
  const read = (): string => system.readFile(path, LARGEST_FILE);
  return attempt(read, "").startsWith(markerStart(name));
}

/**
 * The device and inode of a directory, which may have several names.
 *
 * @param codes of errors by which there is none; by default any, and each other one is thrown
 * @returns `undefined` unless the path leads to one
 */
export function identityOf(
  system: System,
  path: string,
  ...codes: readonly string[]
): string | undefined {
  const status = attempt(() => system.status(path), undefined, ...codes);
  return status?.kind === "directory" ? `${status.device}:${status.inode}` : undefined;
}
