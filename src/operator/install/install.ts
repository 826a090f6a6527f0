import {
  type Command,
  CommandError,
  type Context,
  type Report,
  UsageError,
} from "../../cli/command/command.ts";
import { canAsk, isConfirmed, yesOption } from "../../cli/command/confirm.ts";
import { inOneLine } from "../../cli/output/escape.ts";
import { cleanPath } from "../../store/files/paths.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { attempt, exists, isSystemError, NO_HARD_LINK } from "../../system/system.ts";
import { PLUGIN, PREVIOUS, STATIC } from "../configured/plugin-directories.ts";
import { removeAbandoned, withTemporaryPath } from "../temporary-files.ts";
import { askIfReplaced, askKind, askVersions, type PluginKind, saysItIsHostLocal } from "./ask.ts";
import { forceOption, requireGoingBack, requireLeaving } from "./going-back.ts";
import {
  chosenDirectory,
  DEFAULT_DIRECTORY,
  isPresent,
  kindAt,
  linkAt,
  mark,
  type Place,
  placeIn,
  requireFiles,
  requireNoPackage,
  unmark,
} from "./place.ts";

/** Plugins of the CNI project, and others that are common: a node whose `bridge` is an IPAM plugin has no network. */
const OTHER_PLUGINS: readonly string[] = [
  ...["bandwidth", "bridge", "dhcp", "dummy", "firewall", "flannel", "host-device", "ipvlan"],
  ...["loopback", "macvlan", "multus", "multus-shim", "portmap", "ptp", "sbr", "tap", "tuning"],
  ...["vlan", "vrf", "calico", "calico-ipam", "cilium-cni", "whereabouts"],
];

/** The names of files beside a plugin. */
const KEPT = /\.(?:previous|installed)$/;

/** This executable, even if it was renamed or deleted. */
const SELF = "/proc/self/exe";

const asOption = {
  name: "--as",
  value: "NAME",
  summary: `install it as DIR/NAME, for configurations with that type (default: ${PLUGIN})`,
};

const ifReplacedOption = {
  name: "--if-replaced",
  summary: "only if this program was installed there, and another one is there now, or none",
};

const uninstallOption = {
  name: "--uninstall",
  summary: "put the other plugin back that was there before, or remove this one if there was none",
};

/** `install`: puts this executable in place as a CNI plugin, and puts back what was there. */
export const install: Command = {
  name: "install",
  operands: "[DIR]",
  summary: "install this executable in the CNI plugin directory, or uninstall it",
  description: [
    `Copies this executable to DIR/${PLUGIN} and keeps the other plugin that was there as DIR/${PREVIOUS}. Default for DIR: the plugin directory of this node in which there is a ${PLUGIN}; if there are several, the command lists them and changes nothing; if there is none, ${DEFAULT_DIRECTORY}. The copy is first run with CNI_COMMAND=VERSION, and renamed to ${PLUGIN} only if it answers within ten seconds. The rename is atomic: a concurrent call runs the old file or the new one. If this executable is already installed, nothing changes. DIR/${PLUGIN}.installed says that it is.`,
    `${PREVIOUS} is the other plugin that was replaced last, never a version of this executable; one that does not answer does not displace one that does.`,
    `--as installs it under another name, which configurations use as type: for nodes where an installer owns ${PLUGIN}. The name of another plugin, and a file that does not say it is ${PLUGIN}, are refused. What is said of ${PLUGIN} here then applies to that name, and the other commands find configurations with it. --as ${STATIC} makes it the IPAM plugin ${STATIC}, which it is when called by that name.`,
    "--if-replaced installs it again where another installer has overwritten or removed it, and does nothing where no installation was completed, after --uninstall, or if another version of it is there: for timers and host-local agent, so nothing is printed then.",
    `--uninstall renames ${PREVIOUS} to ${PLUGIN}, after the same test, or removes this executable if there is none. Where another plugin has taken its place, that one stays. Asks for confirmation at a terminal. Elsewhere, without --yes, it only prints what it would do and exits with 1. What the .deb has installed is left to dpkg.`,
    "The Go plugin does not understand gcOnly, rangesFile, partition, exclude, reserved, repeatedAdd and subnets of one or two addresses. Where a configuration of this node ($NETCONFPATH, or the known directories) has one of them, --uninstall names it with what would happen, and refuses without --force. So it does where the former plugin does not answer, as one in a container that needs the node's libraries, and where a configuration would have no plugin.",
  ],
  options: [yesOption, asOption, ifReplacedOption, uninstallOption, forceOption],
  exclusive: [[uninstallOption.name, ifReplacedOption.name]],
  examples: [
    { line: "dist/native/host-local install --yes", effect: "install where the plugins are" },
    {
      line: "host-local install /opt/cni/bin --as host-local-ts --yes",
      effect: "leave host-local to another installer",
    },
    {
      line: "host-local install /opt/cni/bin --uninstall --yes",
      effect: "restore the former plugin",
    },
  ],
  run: (context) => {
    const {
      system,
      has,
      operands: [directory],
    } = context;
    const name = nameOf(context);
    const isMissing = directory !== undefined && kindAt(system, directory) === "nothing";
    if (has(ifReplacedOption.name) && isMissing) {
      // As without a marker: this program was not installed there.
      return report(placeIn(cleanPath(directory), name), "none");
    }
    const place = placeIn(chosenDirectory(context), name);
    requireFiles(system, place);
    return has(uninstallOption.name)
      ? moveIfConfirmed(context, place, "Uninstall?", putBack)
      : moveIfConfirmed(context, place, "Install it?", put);
  },
};

/** @throws UsageError unless it can be the name of a plugin, and of its file */
function nameOf({ option }: Context): string {
  const name = option(asOption.name) ?? PLUGIN;
  const isOther = OTHER_PLUGINS.includes(name);
  if (!/^[A-Za-z0-9][\w.-]{0,99}$/.test(name) || isOther || KEPT.test(name)) {
    throw new UsageError(
      `${asOption.name}: expected a name of its own such as host-local-ts, found ${isOther ? "that of another plugin, " : ""}${name}`,
    );
  }
  return name;
}

/** What is about to be done with a place. */
interface Move {
  /** What will be done, in sentences for people. */
  readonly plan: string;
  /** Does it. */
  readonly make: () => Done;
}

/** What a move has done. */
interface Done {
  readonly action: "installed" | "uninstalled";
  /** The sentences for people. */
  readonly text: string;
  /** Where the file that was replaced is now; `undefined` if it was not kept. */
  readonly kept?: string | undefined;
  /** The CNI versions that the plugin reported. */
  readonly versions?: readonly string[];
}

/**
 * Makes a move if it is confirmed.
 *
 * @param question without the `[y/N]`
 * @param decide looks what is there; a text says why there is nothing to do
 */
function moveIfConfirmed(
  context: Context,
  place: Place,
  question: string,
  decide: (context: Context, place: Place) => Move | string,
): Report {
  const { system, has } = context;
  const move = decide(context, place);
  if (typeof move === "string") {
    if (has(yesOption.name)) removeAbandoned(system, place.directory);
    return report(place, "none", move === "" ? [] : [`${move}; nothing to do.`]);
  }
  if (!isConfirmed(context, `${inOneLine(move.plan)}\n`, question)) {
    const refusal = "Nothing was changed: use --yes, or answer y at a terminal.";
    return report(place, "refused", [move.plan, refusal]);
  }
  removeAbandoned(system, place.directory);
  const done = (canAsk(context) ? decidedAgain(context, place, move, decide) : move).make();
  return report(place, done.action, [done.text], done);
}

/** @throws CommandError if something else would be done now: another installer may come between a question and its answer */
function decidedAgain(
  context: Context,
  place: Place,
  { plan }: Move,
  decide: (context: Context, place: Place) => Move | string,
): Move {
  const move = decide(context, place);
  if (typeof move !== "string" && move.plan === plan) return move;
  throw new CommandError(
    `install: ${place.target} was replaced meanwhile, and is left as it is; see what would be done now`,
  );
}

function report(
  { target, previous }: Place,
  action: Done["action"] | "none" | "refused",
  lines: readonly string[] = [],
  { kept, versions = [] }: Partial<Done> = {},
): Report {
  return {
    exitCode: action === "refused" ? 1 : 0,
    document: () => ({ action, target, previous, kept: kept ?? null, versions }),
    text: () => lines.map((line) => `${inOneLine(line)}\n`).join(""),
  };
}

/** Joins the sentences that are not empty. */
function sentences(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(" ");
}

/** Such as `, which supports CNI 1.0.0`; empty where it was not tested. */
function supporting(versions: readonly string[]): string {
  return versions.length === 0 ? "" : `, which supports CNI ${versions.join(", ")}`;
}

/** This executable becomes the plugin, and the other one that is there the previous one. */
function put(context: Context, place: Place): Move | string {
  const { system, has } = context;
  const { target, previous } = place;
  const isRepair = has(ifReplacedOption.name);
  if (isRepair && !askIfReplaced(system, place)) return "";
  requireNoPackage(system, place);
  if (!isRepair) {
    requireFreeName(system, place);
    if (isThisProgram(system, target)) {
      // A killed installation may have ended before its mark.
      if (has(yesOption.name)) mark(system, place);
      return `${target} already is this executable`;
    }
  }
  return {
    plan: sentences(
      `This executable will be installed as ${target}.`,
      isPresent(system, target)
        ? `What is there is kept as ${previous}, unless it is a version of this executable.`
        : "",
    ),
    make: () => {
      const wasThere = isPresent(system, target);
      const { kept, versions } = withTestedCopy(system, place, (copy, supported) => {
        const keptAs = keep(system, place);
        system.rename(copy, target);
        return { kept: keptAs, versions: supported };
      });
      mark(system, place);
      const text = sentences(
        `Installed ${target}${supporting(versions)}.`,
        kept === undefined ? "" : `The file it replaced is now ${kept}.`,
        wasThere && kept === undefined && isPresent(system, previous)
          ? `${previous} is unchanged.`
          : "",
      );
      return { action: "installed", text, kept, versions };
    },
  };
}

/**
 * Where this program was installed before, the name is its own, whatever is there now.
 *
 * @throws CommandError where a file of the name is another plugin than `host-local`
 */
function requireFreeName(system: OperatorSystem, { name, target, marker }: Place): void {
  if ([PLUGIN, STATIC].includes(name) || exists(system, marker)) return;
  if (!isPresent(system, target) || saysItIsHostLocal(system, target)) return;
  throw new CommandError(
    `install: ${target} does not say that it is host-local; nothing was changed. Choose another name with ${asOption.name}`,
  );
}

/** Whether it is a copy of this program that can be started. A link to it would become what another installer makes of that. */
function isThisProgram(system: OperatorSystem, path: string): boolean {
  const isFile = kindAt(system, path) === "file" && linkAt(system, path) === undefined;
  return isFile && (system.openFile(path, 0).mode & 0o111) !== 0 && system.sameContent(SELF, path);
}

/**
 * Copies this executable, and asks the copy for its CNI versions.
 *
 * @param use may rename the copy, which is removed otherwise
 * @throws CommandError if it does not answer
 * @throws SystemError
 */
function withTestedCopy<T>(
  system: OperatorSystem,
  { name, directory }: Place,
  use: (copy: string, versions: readonly string[]) => T,
): T {
  return withTemporaryPath(system, directory, (copy) => {
    system.copyFile(SELF, copy, 0o755);
    const answer = askVersions(system, copy, name);
    if ("problem" in answer) throw noAnswer("the copy", answer.problem);
    return use(copy, answer.versions);
  });
}

function noAnswer(what: string, problem: string): CommandError {
  return new CommandError(
    `install: ${what} does not answer CNI_COMMAND=VERSION as a CNI plugin; nothing was changed. ${problem}`,
  );
}

/**
 * Keeps the plugin that is about to be replaced as the previous one, unless it is a version of this program, or does not
 * answer where the previous one does. Another installer may replace it at any moment, so it is a further name of the file that is
 * examined and kept; and what has come meanwhile, such as the previous one, is kept in its turn.
 *
 * @returns where it is kept; `undefined` if it is not
 * @throws SystemError
 */
function keep(system: OperatorSystem, place: Place): string | undefined {
  const { name, directory, target, previous } = place;
  const inode = inodeAt(system, target);
  if (!isPresent(system, target)) return undefined;
  const kept = withTemporaryPath(system, directory, (path) => {
    try {
      // Of a symbolic link, too: what it leads to may depend on being called by this name.
      system.link(target, path);
    } catch (error) {
      if (!isSystemError(error, ...NO_HARD_LINK) || linkAt(system, target) !== undefined)
        throw error;
      system.copyFile(target, path, 0o755);
    }
    if (askKind(system, path) === "ours") return undefined;
    const answers = (one: string): boolean => "versions" in askVersions(system, one, name);
    if (isPresent(system, previous) && !answers(path) && answers(previous)) return undefined;
    system.rename(path, previous);
    return previous;
  });
  return inodeAt(system, target) === inode ? kept : keep(system, place);
}

/** `undefined` where nothing is. */
function inodeAt(system: OperatorSystem, path: string): bigint | undefined {
  return attempt(() => system.linkStatus(path).inode, undefined, "ENOENT");
}

/** The previous plugin gets the name back, and this executable goes. */
function putBack(context: Context, place: Place): Move | string {
  const { system } = context;
  const { target, previous, marker } = place;
  requireNoPackage(system, place);
  // The previous one first: where another removal renames it meanwhile, what is found then is that plugin.
  const before = askKind(system, previous);
  const now = askKind(system, target);
  if (now === "ours" || now === "nothing") {
    if (before !== "nothing") return restoring(context, place, before);
    if (now === "ours") return removing(context, place);
    return exists(system, marker)
      ? forgetting(system, place, `There is no ${target}.`)
      : `There is no ${target}`;
  }
  if (!exists(system, marker)) return `${target} is another plugin`;
  // Another installer has replaced this executable, and may have been cut short.
  return before !== "nothing" && isBroken(system, place)
    ? restoring(context, place, before)
    : forgetting(
        system,
        place,
        sentences(noteOn(context, place), `${target} is another plugin and stays.`),
      );
}

/** Whether a plugin does not answer, and would not elsewhere. */
function isBroken(system: OperatorSystem, { name, target }: Place): boolean {
  const answer = askVersions(system, target, name);
  return "problem" in answer && !answer.mayStartElsewhere;
}

/** @throws CommandError if the networks of this node need this plugin, without `--force` */
function noteOn(context: Context, { name }: Place): string {
  return name === STATIC ? "" : requireGoingBack(context, name);
}

/** @throws CommandError without `--force`: if the previous plugin does not answer, or would break a network */
function restoring(context: Context, place: Place, before: PluginKind): Move {
  const { system } = context;
  const { target, previous } = place;
  const versions = versionsOfPrevious(context, place);
  const note = before === "ours" ? "" : noteOn(context, place);
  return {
    plan: sentences(note, `${previous} will be renamed to ${target}.`),
    make: () => {
      unmark(system, place);
      system.rename(previous, target);
      return {
        action: "uninstalled",
        text: `Restored ${target}${supporting(versions)}.`,
        versions,
      };
    },
  };
}

/** None with `--force`, where it does not answer. */
function versionsOfPrevious(
  { system, has }: Context,
  { name, previous }: Place,
): readonly string[] {
  const answer = askVersions(system, previous, name);
  if ("versions" in answer) return answer.versions;
  if (has(forceOption.name)) return [];
  const link = linkAt(system, previous);
  const elsewhere = answer.mayStartElsewhere
    ? `If this is a container, run it on the node; ${forceOption.name} takes it untested`
    : "";
  const problems = [answer.problem, link === undefined ? "" : `It is a link to ${link}`, elsewhere];
  throw noAnswer(previous, problems.filter((part) => part !== "").join(". "));
}

/** @throws CommandError if a network would have no plugin, without `--force` */
function removing(context: Context, place: Place): Move {
  const { system } = context;
  const { name, target } = place;
  const remark = requireLeaving(context, name);
  return {
    plan: `${target} will be removed. ${remark}`,
    make: () => {
      unmark(system, place);
      attempt(() => system.unlink(target), undefined, "ENOENT");
      return { action: "uninstalled", text: `Removed ${target}. ${remark}` };
    },
  };
}

/** Nothing puts this executable there again. */
function forgetting(system: OperatorSystem, place: Place, text: string): Move {
  return {
    plan: text,
    make: () => {
      unmark(system, place);
      return { action: "uninstalled", text };
    },
  };
}
