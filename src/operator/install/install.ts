import {
  type Command,
  CommandError,
  type Context,
  RefusedError,
  type Report,
  UsageError,
} from "../../cli/command/command.ts";
import { canAsk, isConfirmed, yesOption } from "../../cli/command/confirm.ts";
import { inOneLine } from "../../cli/output/escape.ts";
import { cleanPath } from "../../store/files/paths.ts";
import { PLUGIN, PREVIOUS, STATIC } from "../configured/plugin-directories.ts";
import { removeAbandoned } from "../temporary-files.ts";
import { asOption, decideToInstall, decideToUninstall, ifReplacedOption } from "./decision.ts";
import { forceOption } from "./going-back.ts";
import type { Done, Move } from "./moves.ts";
import {
  chosenDirectory,
  DEFAULT_DIRECTORY,
  kindAt,
  type Place,
  placeIn,
  requireFiles,
} from "./place.ts";

/** Plugins of the CNI project, and others that are common: a node whose `bridge` is an IPAM plugin has no network. */
const OTHER_PLUGINS: readonly string[] = [
  ...["bandwidth", "bridge", "dhcp", "dummy", "firewall", "flannel", "host-device", "ipvlan"],
  ...["loopback", "macvlan", "multus", "multus-shim", "portmap", "ptp", "sbr", "tap", "tuning"],
  ...["vlan", "vrf", "calico", "calico-ipam", "cilium-cni", "whereabouts"],
];

/** The names of files beside a plugin. */
const KEPT = /\.(?:previous|installed)$/;

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
    "The Go plugin does not understand gcOnly, rangesFile, partition, exclude, reserved, repeatedAdd and subnets of one or two addresses. Where a configuration of this node ($NETCONFPATH, or the known directories) has one of them, --uninstall names it with what would happen, and refuses without --force (exit code 1). So it does where the former plugin does not answer, as one in a container that needs the node's libraries, and where a configuration would have no plugin.",
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
    if (!has(uninstallOption.name)) {
      return moveIfConfirmed(context, place, "Install it?", decideToInstall);
    }
    try {
      return moveIfConfirmed(context, place, "Uninstall?", decideToUninstall);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      return { ...report(place, "refused"), refusal: error };
    }
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
