/** What CRI-O's configuration says of CNI. */

import { cleanPath, join } from "../../store/files/paths.ts";
import { attempt, type System } from "../../system/system.ts";
import { BUILT_IN_CONFIGURATIONS, type Runtime } from "./runtime.ts";
import { isThere, readToml, textAt, textsAt } from "./toml-file.ts";

const FILE = "/etc/crio/crio.conf";

/** Every file below it is read after that one. */
const DIRECTORY = "/etc/crio/crio.conf.d";

/** The table of what is about CNI. */
const NETWORK = ["crio", "network"] as const;

/**
 * Reads the configuration of CRI-O: what a later file says takes the place of what an earlier one does.
 *
 * @returns none where there is none
 * @throws SyntaxError | SystemError if it cannot be read
 */
export function readCrio(system: System): readonly Runtime[] {
  const own = isThere(system, FILE) ? [FILE] : [];
  const files = [...own, ...filesBelow(system, DIRECTORY)].map((path) => readToml(system, path));
  if (files.length === 0) return [];
  const last = (key: string): string | undefined =>
    files.map((file) => textAt(file, [...NETWORK, key])).findLast((text) => text !== undefined);
  const directories = files
    .map((file) => textsAt(file, [...NETWORK, "plugin_dirs"]))
    .findLast((all) => all.length > 0);
  // The key from before 2019 adds to the others.
  const former = last("plugin_dir") ?? [];
  return [
    {
      name: "CRI-O",
      configurations: cleanPath(last("network_dir") ?? BUILT_IN_CONFIGURATIONS),
      network: last("cni_default_network"),
      plugins: directories?.concat(former).map(cleanPath),
    },
  ];
}

/** The files below a directory, by name, as Go's `filepath.Walk` finds them; none where there is no directory. */
function filesBelow(system: System, directory: string): readonly string[] {
  const names = attempt(() => system.list(directory), [], "ENOENT", "ENOTDIR");
  return names.toSorted().flatMap((name) => {
    const path = join(directory, name);
    return system.linkStatus(path).kind === "directory" ? filesBelow(system, path) : [path];
  });
}
