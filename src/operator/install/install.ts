import {
  type Command,
  CommandError,
  type Context,
  type Report,
  UsageError,
} from "../../cli/command/command.ts";
import { yesOption } from "../../cli/command/confirm.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { exists } from "../../system/system.ts";
import { PLUGIN, PREVIOUS, STATIC } from "../node/plugin-directories.ts";
import { isHostLocal } from "./ask-versions.ts";
import { changeIfConfirmed, type Step, sentences, supporting } from "./confirmed-change.ts";
import { chosenDirectory, DEFAULT_DIRECTORY } from "./directory.ts";
import {
  type Installation,
  installationIn,
  isLinkToHostLocal,
  isPresent,
  isReplaced,
  kindAt,
  mark,
  pluginKindAt,
  staticBeside,
} from "./installation.ts";
import { forceOption, requireGoingBack } from "./new-keys.ts";
import { requireNoPackage } from "./package-of.ts";
import { keepTarget, publish, SELF, withTestedCopy } from "./publish.ts";
import { rollBack } from "./rollback.ts";
import { uninstall } from "./uninstall.ts";

/** Plugins of the CNI project, and others that are common: a node whose `bridge` is an IPAM plugin has no network. */
const OTHER_PLUGINS: readonly string[] = [
  ...["bandwidth", "bridge", "dhcp", "dummy", "firewall", "flannel", "host-device", "ipvlan"],
  ...["loopback", "macvlan", "multus", "multus-shim", "portmap", "ptp", "sbr", "tap", "tuning"],
  ...["vlan", "vrf", "calico", "calico-ipam", "cilium-cni", "whereabouts", STATIC],
];

/** The names of files beside a plugin. */
const KEPT = /\.(?:previous|older|installed)$/;

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
  summary: "install this executable in the CNI plugin directory, roll back, or uninstall",
  description: [
    `Copies this executable to DIR/${PLUGIN} and keeps the file that was there as DIR/${PREVIOUS}. Default for DIR: the plugin directory of this node in which there is a ${PLUGIN}; if there are several, the command lists them and changes nothing; if there is none, ${DEFAULT_DIRECTORY}. The copy is first run with CNI_COMMAND=VERSION, and renamed to ${PLUGIN} only if it answers within ten seconds. The rename is atomic: a concurrent call runs the old file or the new one. If this executable is already installed, nothing changes.`,
    `${PREVIOUS} is the other plugin that was replaced last. Installing another version of this executable does not change it; if another installer has overwritten this executable, its file is kept there, and the one before as DIR/${PLUGIN}.older. DIR/${PLUGIN}.installed says that this executable is installed.`,
    `--static makes DIR/${STATIC} a copy of it, too: called by that name, this executable is the IPAM plugin ${STATIC}. It is kept, rolled back and uninstalled with ${PLUGIN} in the same way. Later installations renew the copy.`,
    `--as installs it under another name, which configurations use as type: for nodes where an installer owns ${PLUGIN}. The name of another plugin, and a file that does not say it is ${PLUGIN}, are refused. What is said of ${PLUGIN} here then applies to that name, and the other commands find configurations with it.`,
    "--if-replaced puts back what another installer has overwritten or removed, the copy of --static included, and does nothing where no installation was completed, after --rollback or --uninstall, or if another version of it is there: for timers and host-local agent, so nothing is printed then.",
    "--rollback exchanges the two files in one step, after the same test of the previous one; a second rollback reverts the first. --uninstall puts back the newest other plugin that answers, or removes this executable if there was none. What the .deb has installed is left to dpkg. Asks for confirmation at a terminal. Elsewhere, without --yes, it only prints what it would do and exits with 1.",
    "The Go plugin does not understand gcOnly, rangesFile, partition, exclude, reserved, repeatedAdd and subnets of one or two addresses. Where a configuration of this node ($NETCONFPATH, or the known directories) has one of them, both name it with what would happen, and refuse without --force. So they do where the former plugin does not answer, as one in a container that needs the node's libraries, and --uninstall where a configuration would have no plugin.",
  ],
  options: [
    yesOption,
    asOption,
    staticOption,
    ifReplacedOption,
    { name: "--rollback", summary: `exchange ${PLUGIN} and ${PREVIOUS}` },
    { name: "--uninstall", summary: "remove this executable and restore the former plugin" },
    beforeRemovalOption,
    forceOption,
  ],
  exclusive: [
    ["--rollback", "--uninstall", "--static", "--if-replaced", "--before-removal"],
    // `static` belongs to `host-local`.
    ["--as", "--static"],
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
    const name = nameOf(context);
    if (has(beforeRemovalOption.name)) {
      const text = requireGoingBack(context, name);
      const line = text === "" ? "" : `${text}\n`;
      return { exitCode: 0, document: () => ({ note: text }), text: () => line };
    }
    const installation = installationIn(chosenDirectory(context), name);
    const all = [installation, ...(has(staticOption.name) ? staticBeside(installation) : [])];
    for (const path of all.flatMap((one) => [one.target, one.previous, one.older, one.marker])) {
      const kind = kindAt(system, path);
      if (kind !== "file" && kind !== "nothing") {
        throw new CommandError(`install: ${path} is not a regular file`);
      }
    }
    // For timers, which say nothing where it was not installed.
    if (!has(ifReplacedOption.name) || exists(system, installation.marker)) {
      requireNoPackage(system, installation);
    }
    if (has("--uninstall")) return uninstall(context, installation);
    return has("--rollback") ? rollBack(context, installation) : installSelf(context, installation);
  },
};

/** @throws UsageError unless it can be the name of a plugin, and of its file */
function nameOf({ option }: Context): string {
  const name = option(asOption.name) ?? PLUGIN;
  const isOther = OTHER_PLUGINS.includes(name);
  if (!/^[A-Za-z0-9][\w.-]{0,99}$/.test(name) || isOther || KEPT.test(name)) {
    throw new UsageError(
      `install: ${asOption.name}: expected a name of its own, such as host-local-ts; found ${isOther ? "that of another plugin, " : ""}${name}`,
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
  const { system, has } = context;
  const { target } = installation;
  const isPutBack = has(ifReplacedOption.name);
  if (!isPutBack) requireFreeName(system, installation);
  const steps = [installation, ...staticBeside(installation)].flatMap((one) => {
    const isAsked = one === installation || has(staticOption.name);
    const isDue = isPutBack ? isReplaced(system, one) : isNeeded(system, one, isAsked);
    // A killed installation may have ended before its mark.
    if (has(yesOption.name) && !isPutBack && isAsked && !isDue) mark(system, one);
    return isDue ? [installing(system, one)] : [];
  });
  return changeIfConfirmed(context, installation, {
    action: "installed",
    question: "Install it?",
    steps,
    reason: isPutBack ? "" : `${target} already is this executable`,
  });
}

/**
 * Whether this executable has to be copied: it was asked for and is not there, or `static` is another version of it. A link
 * to `host-local` would become what another installer makes of that.
 */
function isNeeded(system: OperatorSystem, installation: Installation, isAsked: boolean): boolean {
  const { name, target } = installation;
  const isLink = isLinkToHostLocal(system, installation, target);
  if (isLink || kindAt(system, target) !== "file") return isAsked;
  const isOwn = name !== STATIC || pluginKindAt(system, target) === "ours";
  return isOwn ? !system.sameContent(SELF, target) : isAsked;
}

function installing(system: OperatorSystem, installation: Installation): Step {
  const { name, target } = installation;
  return {
    name,
    plan: sentences(
      `This executable will be installed as ${target}.`,
      isPresent(system, target)
        ? `What is there is kept as ${installation.previous}; a version of this executable only if no other plugin is kept.`
        : "",
    ),
    make: () => {
      const isThere = isPresent(system, target);
      const { kept, versions } = withTestedCopy(system, installation, (copy) => {
        const place = keepTarget(system, installation);
        publish(system, copy, installation);
        return { kept: place, versions: copy.versions };
      });
      mark(system, installation);
      const text = sentences(
        `Installed ${target}${supporting(versions)}.`,
        kept === undefined ? "" : `The file it replaced is now ${kept}.`,
        isThere && kept === undefined ? `${installation.previous} is unchanged.` : "",
      );
      return { text, kept, versions };
    },
  };
}
