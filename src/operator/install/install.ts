import type { OperatorSystem } from "../../system/operator-system.ts";
import {
  type Command,
  CommandError,
  type Context,
  type Report,
  UsageError,
} from "../command/command.ts";
import { yesOption } from "../command/confirm.ts";
import { PLUGIN, PREVIOUS } from "../node/plugin-directories.ts";
import { changeIfConfirmed, nothingToDo, requireVersions } from "./change.ts";
import { chosenDirectory, DEFAULT_DIRECTORY } from "./directory.ts";
import {
  backupPathFor,
  type Installation,
  installationIn,
  keepTarget,
  kindAt,
  linkAt,
  withCopy,
} from "./installation.ts";
import { rollBack } from "./rollback.ts";
import { uninstall } from "./uninstall.ts";

/** This executable, even if it was renamed or deleted. */
const SELF = "/proc/self/exe";

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
    "--rollback exchanges the two files, after the same test of the previous one; a second rollback reverts the first. --uninstall puts the previous plugin back, after the same test, or removes this executable if there was none. Asks for confirmation at a terminal. Elsewhere, without --yes, it only prints what it would do and exits with 1.",
  ],
  options: [
    yesOption,
    { name: "--rollback", summary: `exchange ${PLUGIN} and ${PREVIOUS}` },
    { name: "--uninstall", summary: `remove this executable and restore ${PREVIOUS}` },
  ],
  examples: [
    { line: "dist/native/host-local install --yes", effect: "install where the plugins are" },
    {
      line: "host-local install /usr/lib/cni --rollback --yes",
      effect: "restore the previous file",
    },
  ],
  run: (context) => {
    const { system, has } = context;
    if (has("--rollback") && has("--uninstall")) {
      throw new UsageError("install: --rollback and --uninstall exclude each other");
    }
    const installation = installationIn(chosenDirectory(context));
    const kind = kindAt(system, installation.target);
    if (kind !== "file" && kind !== "nothing") {
      throw new CommandError(`install: ${installation.target} is not a regular file`);
    }
    if (has("--uninstall")) return uninstall(context, installation);
    return has("--rollback") ? rollBack(context, installation) : installSelf(context, installation);
  },
};

function installSelf(context: Context, installation: Installation): Report {
  const { system } = context;
  const { directory, target, previous } = installation;
  const exists = kindAt(system, target) === "file";
  if (exists && system.sameContent(SELF, target)) {
    return nothingToDo(context, installation, `${target} already is this executable`);
  }
  const place = exists ? backupPathFor(system, installation, target) : undefined;
  const plan = `This executable will be installed as ${target}${planFor(system, installation, place)}.`;
  return changeIfConfirmed(context, installation, { plan, question: "Install it?" }, () => {
    const { versions, kept } = withCopy(system, SELF, directory, (copy) => {
      const name = copy.slice(copy.lastIndexOf("/") + 1);
      const supported = requireVersions(context, installation, name, "the copy");
      const to = exists ? keepTarget(system, installation) : undefined;
      system.rename(copy, target);
      return { versions: supported, kept: to };
    });
    const sentence = kept === undefined ? "" : ` The file it replaced is now ${kept}.`;
    const unchanged = exists && kept !== previous ? ` ${previous} is unchanged.` : "";
    return {
      action: "installed",
      text: `Installed ${target}, which supports CNI ${versions.join(", ")}.${sentence}${unchanged}`,
      kept,
      versions,
    };
  });
}

function planFor(
  system: OperatorSystem,
  { target, previous }: Installation,
  place: string | undefined,
): string {
  if (place === previous) return `, and the existing file kept as ${place}`;
  if (place !== undefined) return `, and the existing file kept as ${place}; ${previous} stays`;
  if (kindAt(system, target) === "file") {
    return `, in place of another version of it; ${previous} stays`;
  }
  const link = linkAt(system, target);
  return link === undefined ? "" : `, in place of a link to ${link}, which does not exist`;
}
