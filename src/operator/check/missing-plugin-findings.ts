/** Findings on networks whose plugins are not where their runtime looks for them, or cannot be started. */

import { exactMember, listOf, textOf } from "../../cli/command/json-values.ts";
import { isIdentifier } from "../../cni/attachment.ts";
import { type Json, valueInAnyCase } from "../../cni/json.ts";
import { join } from "../../store/files/paths.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { attempt } from "../../system/system.ts";
import type { Configuration } from "../configured/configurations.ts";
import { isInUse } from "../configured/file-in-use.ts";
import {
  BUILDKIT_PREFIX,
  existingPluginDirectories,
  PLUGIN,
} from "../configured/plugin-directories.ts";
import { hasRootOfNode } from "../facts/outlook.ts";
import { kindAt, linkAt } from "../install/place.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";

/** The bits of a mode by which anybody may start a file, see inode(7). */
const EXECUTABLE = 0o111;

/** What is at the path of a plugin. */
type Present =
  | { readonly kind: "sound" | "nothing" | "empty" | "other program" }
  | { readonly kind: "link to nothing"; readonly target: string; readonly isCertain: boolean }
  | { readonly kind: "not executable"; readonly mode: string };

/** The plugins that the runtime starts for a configuration, by their names. */
interface Plugins {
  readonly main: string;
  readonly ipam: string;
  /** The plugins of the list, this one excepted. */
  readonly others: readonly string[];
  readonly all: readonly string[];
}

/** Looks for a plugin in a directory, once: its whole file is searched. */
type Look = (directory: string, name: string, plugins: Pick<Plugins, "ipam">) => Present;

/** What a finding says of a plugin. */
type Said = Pick<Finding, "severity" | "message" | "remedy" | "commands">;

/**
 * Looks for the plugins of each network in the plugin directories of those who read its configuration. No program is started.
 *
 * @param isSelected only networks whose name this holds for
 */
export function missingPluginFindings(
  node: Node,
  isSelected: (network: string) => boolean,
): readonly Finding[] {
  const { system } = node.context;
  const known = existingPluginDirectories(system);
  const found = new Map<string, Finding>();
  const seen = new Map<string, Present>();
  const look: Look = (directory, name, { ipam }) => {
    const isIpam = name === ipam;
    const path = join(directory, name);
    const present = seen.get(`${isIpam} ${path}`) ?? presentAt(system, path, isIpam);
    seen.set(`${isIpam} ${path}`, present);
    return present;
  };
  for (const configuration of node.configurations.filter(({ file }) =>
    isInUse(node.uses.get(file)),
  )) {
    const network = textOf(configuration.document.name);
    if (!isSelected(network)) continue;
    const own = known.filter((one) => one.configurations === configuration.file.directory);
    const directories = own.map(({ directory }) => directory);
    const plugins = pluginsOf(configuration);
    const all = known.map(({ directory }) => directory);
    const say = (directory: string, name: string, said: Said | undefined): void => {
      const path = join(directory, name);
      const about = { code: "plugin-missing", network, path } as const;
      if (said !== undefined) found.set(`${network} ${path}`, { ...about, ...said });
    };
    const isNowhere = !all.some((one) => isSound(look, one, plugins.ipam, plugins));
    const places = isNowhere ? whereBroken(look, directories, plugins.ipam, plugins) : directories;
    for (const directory of places) {
      say(directory, plugins.ipam, onThisPlugin(look, directory, all, plugins));
    }
    const used = directories.filter((one) =>
      plugins.all.some((name) => isSound(look, one, name, plugins)),
    );
    const likely = used.length > 0 ? used : directories;
    for (const name of plugins.others) {
      for (const directory of whereBroken(look, likely, name, plugins)) {
        say(directory, name, onOther(look, directory, all, name, plugins));
      }
    }
  }
  return inOne([...found.values()]);
}

/** One plugin that is missing is one finding, in however many directories, and for however many networks. */
function inOne(findings: readonly Finding[]): readonly Finding[] {
  const same = Map.groupBy(findings, ({ path, message, commands }) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    // What is to be run is about the file at one path.
    return `${commands === undefined ? name : path} ${message}`;
  });
  return [...same.values()].flatMap(([first, ...others]): readonly Finding[] => {
    if (first === undefined) return [];
    if (others.length === 0) return [first];
    const paths = new Set(others.map(({ path }) => path).filter((one) => one !== first.path));
    const networks = new Set(
      others.map(({ network }) => network).filter((one) => one !== first.network),
    );
    const further = [
      ...(paths.size === 0 ? [] : [`the same at ${[...paths].join(", ")}`]),
      ...(networks.size === 0 ? [] : [`also needed by ${named([...networks])}`]),
    ];
    return [{ ...first, message: [first.message, ...further].join("; ") }];
  });
}

/** So many of the networks that need a plugin are named. */
const MOST_NAMED = 3;

function named(networks: readonly string[]): string {
  const more = networks.length - MOST_NAMED;
  return `${networks.slice(0, MOST_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** The directories that have something else in place of a plugin, since it is that which is to be mended; all, where none has. */
function whereBroken(
  look: Look,
  directories: readonly string[],
  name: string,
  plugins: Plugins,
): readonly string[] {
  const broken = directories.filter(
    (one) => !["sound", "nothing"].includes(look(one, name, plugins).kind),
  );
  return broken.length > 0 ? broken : directories;
}

function pluginsOf({ document, file }: Configuration): Plugins {
  const ipam = valueInAnyCase(document, "ipam");
  const main = typeOf(document);
  // flannel has it by default.
  const own = typeOf(ipam) || PLUGIN;
  const listed = file.isList
    ? (listOf(exactMember(file.document, "plugins")) as readonly Json[])
    : [file.document];
  const appended = file.appended.map((one) => one.document);
  const types = [main, ...[...listed, ...appended].map(typeOf)].filter(
    (type) => type !== own && isIdentifier(type) && !type.startsWith(BUILDKIT_PREFIX),
  );
  const others = [...new Set(types)];
  return { main, ipam: own, others, all: [own, ...others] };
}

function typeOf(plugin: Json | undefined): string {
  return textOf(valueInAnyCase(plugin, "type"));
}

/**
 * Which directory the runtime uses is not known, and where the plugin is in another one it need not be in this one, unless this
 * alone has the main plugin.
 *
 * @param all known directories of the node
 */
function onThisPlugin(
  look: Look,
  directory: string,
  all: readonly string[],
  plugins: Plugins,
): Said | undefined {
  const { main, ipam } = plugins;
  const has = (at: string, name: string): boolean => isSound(look, at, name, plugins);
  const present = look(directory, ipam, plugins);
  if (present.kind === "sound") return undefined;
  const elsewhere = all.filter((one) => has(one, ipam));
  const [other] = elsewhere;
  if (present.kind !== "nothing" || other === undefined) {
    return describe(present, join(directory, ipam));
  }
  if (main === ipam || !has(directory, main)) return undefined;
  const beside = `there is no plugin, but ${main} is here`;
  const complete = elsewhere.find((one) => has(one, main));
  if (complete === undefined) {
    return {
      message: `${beside}, and ${other}, which has the plugin, has no ${main}: a runtime that looks here alone starts no pod of this network`,
    };
  }
  return {
    severity: "info",
    message: `${beside}; ${complete} has both, and which of these directories the runtime uses is not known`,
    remedy:
      "none where the runtime uses the other directory (bin_dir or bin_dirs in the configuration of containerd, plugin_dirs in that of CRI-O); otherwise put the plugin there",
  };
}

const OTHER_REMEDY =
  "put the plugin of this name there, as whoever installs the network does, or correct its mode, or the type in the configuration: until then no pod of this network starts";

/** Another plugin of the list may be in any directory: clients have directories of their own. */
function onOther(
  look: Look,
  directory: string,
  all: readonly string[],
  name: string,
  plugins: Plugins,
): Said | undefined {
  if (all.some((one) => isSound(look, one, name, plugins))) return undefined;
  const present = look(directory, name, plugins);
  return { remedy: OTHER_REMEDY, ...describe(present, join(directory, name)) };
}

function isSound(look: Look, directory: string, name: string, plugins: Plugins): boolean {
  return look(directory, name, plugins).kind === "sound";
}

/** @param isIpam whether it is the IPAM plugin, which this program or the Go plugin is to be */
function presentAt(system: OperatorSystem, path: string, isIpam: boolean): Present {
  const kind = attempt(() => kindAt(system, path), "unseen");
  if (kind === "nothing") {
    const target = attempt(() => linkAt(system, path), undefined);
    if (target === undefined) return { kind };
    // It may lead to a program that is not in this container, but on the node.
    return { kind: "link to nothing", target, isCertain: hasRootOfNode(system) };
  }
  // The runtime goes past a directory of that name.
  if (kind === "directory") return { kind: "nothing" };
  if (kind !== "file") return { kind: "sound" };
  // Before the mode: what is no plugin is to be replaced, not to be made executable.
  if (attempt(() => system.status(path).size, 1) === 0) return { kind: "empty" };
  if (isIpam && !attempt(() => system.hasText(path, PLUGIN), true)) {
    return { kind: "other program" };
  }
  const mode = attempt(() => system.openFile(path, 0).mode, EXECUTABLE);
  if ((mode & EXECUTABLE) !== 0) return { kind: "sound" };
  return { kind: "not executable", mode: (mode & 0o777).toString(8).padStart(4, "0") };
}

function describe(present: Present, path: string): Said {
  switch (present.kind) {
    case "not executable":
      return {
        message: `the plugin has mode ${present.mode}, so no runtime can start it`,
        commands: [{ run: [["chmod", "755", path]] }],
      };
    case "empty":
      return { message: "an empty file is in place of the plugin" };
    case "other program":
      return {
        message: "another program is in place of the plugin: no word in it names host-local",
      };
    case "link to nothing": {
      const message = `a link to ${present.target}, where nothing is, is in place of the plugin`;
      if (present.isCertain) return { message };
      return {
        severity: "info",
        message: `${message}; whether something is there on the node cannot be told`,
        remedy: "run check on the node, outside of a container",
      };
    }
    default:
      return { message: "there is no plugin" };
  }
}
