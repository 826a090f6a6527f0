/** What containerd's configuration says of CNI, as containerd 1.6 to 2.4 read it. */

import { exactMember } from "../../cli/command/json-values.ts";
import { cleanPath, join, parentOf } from "../../store/files/paths.ts";
import { attempt, type System } from "../../system/system.ts";
import { BUILT_IN_CONFIGURATIONS, type Runtime } from "./runtime.ts";
import { isThere, numberAt, readToml, type TomlFile, textAt, textsAt } from "./toml-file.ts";

/** Where it is: that of containerd itself, and those that distributions write for theirs. */
const FILES: readonly (readonly [name: string, file: string])[] = [
  ["containerd", "/etc/containerd/config.toml"],
  ["k3s", "/var/lib/rancher/k3s/agent/etc/containerd/config.toml"],
  ["RKE2", "/var/lib/rancher/rke2/agent/etc/containerd/config.toml"],
  ["MicroK8s", "/var/snap/microk8s/current/args/containerd.toml"],
];

/** The section that has `cni`, by the version of the file. */
const SECTIONS = {
  1: ["cri", "io.containerd.grpc.v1.cri"],
  2: ["io.containerd.grpc.v1.cri"],
  3: ["io.containerd.cri.v1.runtime"],
} as const;

/** The plugins of containerd that attach pods: Docker's package of it has one in `disabled_plugins`. */
const NEEDED: readonly string[] = [...SECTIONS[1], ...SECTIONS[3]];

/** What one file says. */
type Said = Partial<Pick<Runtime, "configurations" | "plugins">>;

/**
 * Reads the configurations of the containerds of a node.
 *
 * @returns those that attach pods to networks
 * @throws SyntaxError | SystemError if one cannot be read
 */
export function readContainerds(system: System): readonly Runtime[] {
  return FILES.filter(([, file]) => isThere(system, file)).flatMap(([name, file]) => {
    const files = withImports(system, file);
    const disabled = files.flatMap((part) => textsAt(part, ["disabled_plugins"]));
    if (disabled.some((plugin) => NEEDED.includes(plugin))) return [];
    const { configurations = BUILT_IN_CONFIGURATIONS, plugins } = saidIn(files);
    return [{ name, configurations: cleanPath(configurations), network: undefined, plugins }];
  });
}

/**
 * What the files say together: a later file replaces what an earlier one says, and leaves what it does not mention.
 *
 * @throws SyntaxError where containerd 1 may read something else: there a section of a later file replaces the whole earlier one
 */
function saidIn(files: readonly TomlFile[]): Said {
  let said: Said = {};
  for (const file of files) {
    for (const section of sectionsIn(file)) {
      const isThere = exactMember(exactMember(file.document, "plugins"), section) !== undefined;
      if (isThere && section !== SECTIONS[3][0] && Object.keys(said).length > 0) {
        throw new SyntaxError(`${file.source}: ${section} is read differently by both`);
      }
      said = { ...said, ...saidOf(file, section) };
    }
  }
  return said;
}

function saidOf(file: TomlFile, section: string): Said {
  const keys = ["plugins", section, "cni"];
  const configurations = textAt(file, [...keys, "conf_dir"]);
  // containerd refuses to start with both, unless the list is the default.
  const directory = textAt(file, [...keys, "bin_dir"]);
  const directories = textsAt(file, [...keys, "bin_dirs"]);
  const plugins = directory === undefined ? directories : [directory];
  return {
    ...(configurations !== undefined && { configurations }),
    ...(plugins.length > 0 && { plugins: plugins.map(cleanPath) }),
  };
}

/** A file without a version is of the first. */
function sectionsIn(file: TomlFile): readonly string[] {
  const version = numberAt(file, ["version"]) ?? 1;
  if (version < 2) return SECTIONS[1];
  return version < 3 ? SECTIONS[2] : SECTIONS[3];
}

/** A file, and those that it imports, each once, in the order in which containerd reads them. */
function withImports(system: System, first: string): readonly TomlFile[] {
  const files = new Map<string, TomlFile>();
  const pending = [first];
  for (const path of pending) {
    if (files.has(path)) continue;
    const file = readToml(system, path);
    files.set(path, file);
    pending.push(...importsOf(system, file));
  }
  return [...files.values()];
}

/** @throws SyntaxError for a pattern with more than one `*`, or elsewhere than in the name of a file */
function importsOf(system: System, file: TomlFile): readonly string[] {
  return textsAt(file, ["imports"]).flatMap((pattern) => {
    const isAbsolute = pattern.startsWith("/");
    const path = cleanPath(isAbsolute ? pattern : join(parentOf(file.source), pattern));
    if (!path.includes("*")) return [path];
    const directory = parentOf(path);
    const [start = "", end = "", ...others] = path.slice(join(directory, "").length).split("*");
    if (others.length > 0 || /[*?[\\]/.test(directory + start + end)) {
      throw new SyntaxError(`${file.source}: the pattern ${pattern}`);
    }
    return attempt(() => system.list(directory), [], "ENOENT", "ENOTDIR")
      .filter((name) => name.length >= start.length + end.length)
      .filter((name) => name.startsWith(start) && name.endsWith(end))
      .toSorted()
      .map((name) => join(directory, name));
  });
}
