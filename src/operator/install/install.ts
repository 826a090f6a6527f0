import {
  type Command,
  CommandError,
  type Context,
  type Report,
  UsageError,
} from "../../cli/command/command.ts";
import { yesOption } from "../../cli/command/confirm.ts";
import { join } from "../../store/files/paths.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { exists } from "../../system/system.ts";
import { PLUGIN, PREVIOUS, STATIC } from "../node/plugin-directories.ts";
import { isHostLocal } from "./ask-versions.ts";
import {
  changeIfConfirmed,
  nothingToDo,
  type Outcome,
  requireVersions,
  sentences,
} from "./confirmed-change.ts";
import { chosenDirectory, DEFAULT_DIRECTORY } from "./directory.ts";
import {
  backupPathFor,
  danglingLinkAt,
  type Installation,
  installationIn,
  isPresent,
  isReplaced,
  keepTarget,
  kindAt,
  SELF,
  withCopy,
} from "./installation.ts";
import { forceOption, requireGoingBack } from "./new-keys.ts";
import { rollBack } from "./rollback.ts";
import { copyStatic, needsStatic, planForStatic, staticBeside } from "./static-copy.ts";
import { uninstall } from "./uninstall.ts";

/** Plugins of the CNI project, and others that are common: a node whose `bridge` is an IPAM plugin has no network. */
const OTHER_PLUGINS: readonly string[] = [
  ...["bandwidth", "bridge", "dhcp", "dummy", "firewall", "flannel", "host-device", "ipvlan"],
  ...["loopback", "macvlan", "multus", "multus-shim", "portmap", "ptp", "sbr", "tap", "tuning"],
  ...["vlan", "vrf", "calico", "calico-ipam", "cilium-cni", "whereabouts", STATIC],
];

/** The names of files beside a plugin. */
const KEPT = /\.(?:previous|replaced|installed)$/;

const staticOption = {
  name: "--static",
  summary: `also install it as ${STATIC}: called by that name it is that plugin`,
};

const asOption = {
  name: "--as",
  value: "NAME",
  summary: `install it as DIR/NAME, for configurations with that type (default: ${PLUGIN})`,
};

const beforeRemovalOption = {
  name: "--before-removal",
  summary: "change nothing; only say what --rollback would refuse: for the scripts of packages",
};

const ifReplacedOption = {
  name: "--if-replaced",
  summary: "only if this program was installed there, and another one is there now, or none",
};

/** `install`: installs this executable as a CNI plugin, rolls back, and uninstalls. */
export const install: Command = {
  name: "install",
  operands: "[DIR]",
  operandCount: { least: 0, most: 1 },
  findsNetworks: false,
  summary: "install this executable in the CNI plugin directory, roll back, or uninstall",
  description: [
    `Copies this executable to DIR/${PLUGIN} and keeps the file that was there as DIR/${PREVIOUS}. Default for DIR: the plugin directory of this node in which there is a ${PLUGIN}; if there are several, the command lists them and changes nothing; if there is none, ${DEFAULT_DIRECTORY}. The copy is first run with CNI_COMMAND=VERSION, and renamed to ${PLUGIN} only if it answers within ten seconds. The rename is atomic: a concurrent call runs the old file or the new one. If this executable is already installed, nothing changes.`,
    `${PREVIOUS} stays the first other plugin that was replaced. Installing another version of this executable does not change it; if another installer has overwritten this executable, its file is kept as DIR/${PLUGIN}.replaced.`,
    `--static makes DIR/${STATIC} a copy of it, too: called by that name, this executable is the IPAM plugin ${STATIC}. What was there is kept as DIR/${STATIC}.previous. --rollback and --uninstall put it back, or remove the copy if there was nothing. Later installations renew the copy.`,
    `--as installs it under another name, which configurations use as type: for nodes where an installer owns ${PLUGIN}. The name of another plugin, and a file that does not say it is ${PLUGIN}, are refused. What is said of ${PLUGIN} here then applies to that name, and the other commands find configurations with it.`,
    "--if-replaced puts back what another installer has overwritten or removed, the copy of --static included, and does nothing where this program was not installed, after --rollback or --uninstall, or if another version of it is there: for timers and host-local agent, so nothing is printed then.",
    "--rollback exchanges the two files, after the same test of the previous one; a second rollback reverts the first. --uninstall puts the previous plugin back, after the same test, or removes this executable if there was none. Asks for confirmation at a terminal. Elsewhere, without --yes, it only prints what it would do and exits with 1.",
    "The Go plugin does not understand gcOnly, rangesFile, partition, exclude, repeatedAdd and subnets of one or two addresses. Where a configuration of this node ($NETCONFPATH, or the known directories) has one of them, both name it with what would happen, and refuse without --force.",
  ],
  options: [
    yesOption,
    asOption,
    staticOption,
    ifReplacedOption,
    { name: "--rollback", summary: `exchange ${PLUGIN} and ${PREVIOUS}` },
    { name: "--uninstall", summary: `remove this executable and restore ${PREVIOUS}` },
    beforeRemovalOption,
    forceOption,
  ],
  examples: [
    { line: "dist/native/host-local install --yes", effect: "install where the plugins are" },
    {
      line: "host-local install /opt/cni/bin --as host-local-ts --yes",
      effect: "leave host-local to another installer",
    },
    {
      line: "host-local install /usr/lib/cni --rollback --yes",
      effect: "restore the previous file",
    },
  ],
  run: (context) => {
    const { system, has } = context;
    const actions = [
      "--rollback",
      "--uninstall",
      staticOption.name,
      ifReplacedOption.name,
      beforeRemovalOption.name,
    ].filter(has);
    if (actions.length > 1) {
      throw new UsageError(`install: ${actions.join(" and ")} exclude each other`);
    }
    const name = nameOf(context);
    if (has(beforeRemovalOption.name)) {
      const text = requireGoingBack(context, name);
      return { exitCode: 0, document: { note: text }, text: text === "" ? "" : `${text}\n` };
    }
    const installation = installationIn(chosenDirectory(context), name);
    const { directory, target } = installation;
    const targets = has(staticOption.name) ? [target, join(directory, STATIC)] : [target];
    for (const path of targets) {
      const kind = kindAt(system, path);
      if (kind !== "file" && kind !== "nothing") {
        throw new CommandError(`install: ${path} is not a regular file`);
      }
    }
    if (has("--uninstall")) return uninstall(context, installation);
    return has("--rollback") ? rollBack(context, installation) : installSelf(context, installation);
  },
};

/** @throws UsageError unless it can be the name of a plugin, and of its file */
function nameOf({ option, has }: Context): string {
  const name = option(asOption.name) ?? PLUGIN;
  const isOther = OTHER_PLUGINS.includes(name);
  if (!/^[A-Za-z0-9][\w.-]{0,99}$/.test(name) || isOther || KEPT.test(name)) {
    throw new UsageError(
      `install: ${asOption.name}: expected a name of its own, such as host-local-ts; found ${isOther ? "that of another plugin, " : ""}${name}`,
    );
  }
  if (name !== PLUGIN && has(staticOption.name)) {
    throw new UsageError(
      `install: ${asOption.name} and ${staticOption.name} exclude each other: ${STATIC} belongs to ${PLUGIN}`,
    );
  }
  return name;
}

/**
 * Where this program was installed before, the name is its own, whatever is there now.
 *
 * @throws CommandError where a file of the name is another plugin than `host-local`
 */
function requireFreeName(system: OperatorSystem, { name, target, marker }: Installation): void {
  if (name === PLUGIN || exists(system, marker)) return;
  if (!isPresent(system, target) || isHostLocal(system, target)) return;
  throw new CommandError(
    `install: ${target} does not say that it is host-local; nothing was changed. Choose another name with ${asOption.name}`,
  );
}

function installSelf(context: Context, installation: Installation): Report {
  const { system } = context;
  const { target } = installation;
  const beside = staticBeside(installation);
  const isPutBack = context.has(ifReplacedOption.name);
  if (!isPutBack) requireFreeName(system, installation);
  const isInstalled = isPutBack
    ? !isReplaced(system, installation)
    : kindAt(system, target) === "file" && system.sameContent(SELF, target);
  const isToCopy =
    beside !== undefined &&
    (isPutBack
      ? isReplaced(system, beside)
      : needsStatic(system, beside, context.has(staticOption.name)));
  if (isInstalled && !isToCopy) {
    const reason = isPutBack ? "" : `${target} already is this executable`;
    return nothingToDo(context, installation, reason);
  }
  const plan = sentences(
    isInstalled ? "" : planToCopy(system, installation),
    isToCopy ? planForStatic(system, beside) : "",
  );
  return changeIfConfirmed(context, installation, { plan, question: "Install it?" }, () => {
    const copied: Outcome = isInstalled
      ? { action: "installed", text: "" }
      : copySelf(context, installation);
    const further = isToCopy ? copyStatic(system, beside) : "";
    return { ...copied, text: sentences(copied.text, further) };
  });
}

function copySelf(context: Context, installation: Installation): Outcome {
  const { system } = context;
  const { directory, target, previous } = installation;
  const isThere = isPresent(system, target);
  const { versions, kept } = withCopy(system, SELF, directory, (copy) => {
    const supported = requireVersions(context, installation, copy, "the copy");
    const to = isThere ? keepTarget(system, installation) : undefined;
    system.rename(copy, target);
    return { versions: supported, kept: to };
  });
  return {
    action: "installed",
    text: sentences(
      `Installed ${target}, which supports CNI ${versions.join(", ")}.`,
      kept === undefined ? "" : `The file it replaced is now ${kept}.`,
      isThere && kept !== previous ? `${previous} is unchanged.` : "",
    ),
    kept,
    versions,
  };
}

function planToCopy(system: OperatorSystem, installation: Installation): string {
  const { target } = installation;
  const place = isPresent(system, target) ? backupPathFor(system, installation, target) : undefined;
  return `This executable will be installed as ${target}${planFor(system, installation, place)}.`;
}

function planFor(
  system: OperatorSystem,
  { target, previous }: Installation,
  place: string | undefined,
): string {
  const link = danglingLinkAt(system, target);
  const what = link === undefined ? "file" : `link to ${link}, which does not exist here,`;
  if (place === previous) return `, and the existing ${what} kept as ${place}`;
  if (place !== undefined) return `, and the existing ${what} kept as ${place}; ${previous} stays`;
  if (!isPresent(system, target)) return "";
  return `, in place of another version of it; ${previous} stays`;
}
