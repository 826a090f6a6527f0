/** The networks on this node: those that are configured, and those that have a directory. */

import { CommandError, type Context } from "../../cli/command/command.ts";
import { isIdentifier } from "../../cni/attachment.ts";
import type { NetworkName } from "../../cni/call.ts";
import { parseAddress } from "../../ipam/address.ts";
import { DEFAULT_DATA_DIR } from "../../ipam/config.ts";
import { formatRangeSet } from "../../ipam/range-set.ts";
import { type NetworkFiles, openNetwork } from "../../store/files/network-files.ts";
import { cleanPath, join } from "../../store/files/paths.ts";
import { attempt, exists, type System } from "../../system/system.ts";
import {
  type ConfigurationPlaces,
  findPlaces,
  requireDirectory,
} from "./configuration-directories.ts";
import {
  type ConfigurationFile,
  type ConfigurationProblem,
  readConfigurationFiles,
} from "./configuration-files.ts";
import { type Configuration, configurationsIn } from "./configurations.ts";
import { type FileUse, isInUse, isUnused, usesOf } from "./file-in-use.ts";
import { type FoundNetwork, fromConfiguration, unconfigured } from "./found-network.ts";
import { existingPluginDirectories, pluginNames } from "./plugin-directories.ts";
import { whyNotConfigured } from "./unread-keys.ts";

/** The directory of the state directories, in a data directory. */
const STATE_ROOT = ".host-local";

/** Gives the latest configurations in libcni's cache of the networks that no file configures, as files. */
interface ConfigurationCache {
  readonly configurationsBut: (networks: ReadonlySet<string>) => readonly ConfigurationFile[];
}

/** The networks that were found. */
export interface Networks {
  readonly places: ConfigurationPlaces;
  /**
   * The networks by name, then by directory. A network appears once for each of its configurations in use that has different
   * ranges, and at least once.
   */
  readonly found: readonly FoundNetwork[];
  /** The configurations that nobody uses beside those. */
  readonly unused: readonly FoundNetwork[];
  readonly problems: readonly ConfigurationProblem[];
  /** The files of the configuration directories, also those that use other plugins. */
  readonly files: readonly ConfigurationFile[];
  /** Who uses each of them. */
  readonly uses: ReadonlyMap<ConfigurationFile, FileUse>;
  /** The configurations in them that use this plugin. */
  readonly configurations: readonly Configuration[];
}

/**
 * Finds all networks: in the configurations, in those that libcni's cache has of networks without a file, and by their
 * directories in the data directories.
 *
 * @param name one of them; `undefined` where it may be none
 * @param counts whether a network counts, too, of which only the state directory is left
 * @throws CommandError if it is neither configured nor has a directory, or if `--conf-dir` or `--data-dir` does not exist
 * @throws SystemError if a directory cannot be read
 */
export function findNetworks(
  context: Context,
  cache: ConfigurationCache,
  name: string | undefined,
  counts?: (files: NetworkFiles) => boolean,
): Networks {
  const { system } = context;
  const option = context.option("--data-dir");
  const dataDir = option === undefined ? undefined : requireDirectory(system, "--data-dir", option);
  const problems: ConfigurationProblem[] = [];
  const places = findPlaces(context);
  const files = places.directories.flatMap((directory) =>
    readConfigurationFiles(system, directory, problems),
  );
  const uses = usesOf(files, places.runtimes);
  const names = pluginNames(system);
  const configurations = configurationsIn(system, files, problems, names);
  const isPlugin = (type: string): boolean =>
    existingPluginDirectories(system).some(({ directory }) =>
      exists(system, join(directory, type)),
    );
  for (const { source, document } of files.filter((file) => isInUse(uses.get(file)))) {
    for (const problem of whyNotConfigured(document, [...names], isPlugin)) {
      problems.push({ source, problem, unread: JSON.stringify(document) });
    }
  }
  const all = configurations.flatMap((configuration): readonly FoundNetwork[] => {
    const network = fromConfiguration(system, configuration, dataDir, problems);
    return network === undefined ? [] : [{ ...network, use: uses.get(configuration.file) }];
  });
  const unused = all.filter(({ use }) => isUnused(use));
  const found = all.filter(({ use }) => !isUnused(use));
  const configured = new Set(found.map(({ files }) => files.network));
  const cached = cache.configurationsBut(configured);
  for (const configuration of configurationsIn(system, cached, [], names)) {
    const network = fromConfiguration(system, configuration, dataDir, []);
    if (network === undefined || configured.has(network.files.network)) continue;
    found.push({ ...network, use: { kind: "cached", file: configuration.file } });
  }
  const shown = differing(found);
  const dataDirs =
    dataDir === undefined
      ? [DEFAULT_DATA_DIR, ...[...all, ...found].map(({ files }) => files.dataDir)]
      : [dataDir];
  const used = new Set(found.map(({ files }) => files.directory));
  for (const root of new Set(dataDirs.map(cleanPath))) {
    for (const own of directoriesIn(system, root)) {
      if (used.has(own.directory)) continue;
      if (own.network === name || isUsed(system, own)) shown.push(unconfigured(own));
    }
    if (counts === undefined) continue;
    for (const own of directoriesIn(system, root, join(root, STATE_ROOT))) {
      const isKnown = used.has(own.directory) || isDirectory(system, own.directory);
      if (!isKnown && counts(own)) shown.push(unconfigured(own));
    }
  }
  shown.sort(byName);
  const distinct = distinctProblems(problems);
  if (name !== undefined && shown.every(({ files: own }) => own.network !== name)) {
    throw unknownNetwork(name, shown, distinct);
  }
  return { places, found: shown, unused, problems: distinct, files, uses, configurations };
}

/** Two plugins of a list may have the same one, as an entry for GC and the plugin that it is for. */
function distinctProblems(
  problems: readonly ConfigurationProblem[],
): readonly ConfigurationProblem[] {
  return [
    ...new Map(problems.map((about) => [`${about.source}\0${about.problem}`, about])).values(),
  ];
}

/**
 * The first configuration of each network with the same ranges: multus copies the configurations of others. A configuration
 * without ranges, such as an entry for GC alone, counts only where no other has any.
 */
function differing(found: readonly FoundNetwork[]): FoundNetwork[] {
  const ofNetworks = Map.groupBy(found, ({ files }) => files.directory);
  return [...ofNetworks.values()].flatMap((all) => {
    const byRanges = [...Map.groupBy(all, formatRanges)];
    return byRanges
      .filter(([ranges]) => ranges !== "" || byRanges.length === 1)
      .flatMap(([, [first]]) => first ?? []);
  });
}

function formatRanges({ rangeSets }: FoundNetwork): string {
  return rangeSets.map(formatRangeSet).join(" ");
}

function unknownNetwork(
  name: string,
  found: readonly FoundNetwork[],
  problems: readonly ConfigurationProblem[],
): CommandError {
  const known = new Set(found.map(({ files }) => files.network));
  return new CommandError(
    `unknown network ${JSON.stringify(name)}; known networks: ${[...known].join(", ") || "none"}`,
    problems.map(({ source, problem }) => `host-local: ${source}: ${problem}`),
  );
}

/**
 * The networks to which the directories may belong that are in a data directory, or in what is given in place of it; a
 * missing one has none.
 */
function directoriesIn(
  system: System,
  dataDir: string,
  place: string = dataDir,
): readonly NetworkFiles[] {
  return attempt(() => system.list(place), [], "ENOENT", "ENOTDIR")
    .filter((name) => isIdentifier(name) && isDirectory(system, join(place, name)))
    .map((name) => openNetwork(system, dataDir, name as NetworkName));
}

function isDirectory(system: System, path: string): boolean {
  return attempt(() => system.status(path).kind === "directory", false);
}

/**
 * Whether a plugin has used this directory: a data directory may contain unrelated ones. One that cannot be read may belong
 * to a network; reading its reservations reports the error.
 */
function isUsed(system: System, { directory }: NetworkFiles): boolean {
  const isOfPlugin = (name: string): boolean =>
    name === "lock" || name.startsWith("last_reserved_ip.") || parseAddress(name) !== undefined;
  return attempt(() => system.list(directory).some(isOfPlugin), true);
}

/** Configurations of one network stay in the order of their files, as a runtime reads them. */
function byName(a: FoundNetwork, b: FoundNetwork): number {
  const keyOf = ({ files }: FoundNetwork): string => `${files.network}/${files.directory}`;
  if (keyOf(a) === keyOf(b)) return 0;
  return keyOf(a) < keyOf(b) ? -1 : 1;
}
