import { cleanPath, join } from "../../store/location.ts";
import { type Command, CommandError, type Context, type Report } from "../command/command.ts";
import { isConfirmed, yesOption } from "../command/confirm.ts";
import {
  exchange,
  type Installation,
  keepAs,
  kindAt,
  supportedVersions,
  withCopy,
} from "./installation.ts";

const DEFAULT_DIRECTORY = "/opt/cni/bin";

/** The name of the plugin in configurations. */
const NAME = "host-local";

const PREVIOUS = "host-local.previous";

/** This executable, even if it was renamed or deleted. */
const SELF = "/proc/self/exe";

/** `install`: installs this executable as a CNI plugin, and rolls back. */
export const install: Command = {
  name: "install",
  operands: "[DIR]",
  operandCount: { least: 0, most: 1 },
  summary: "install this executable in the CNI plugin directory, or roll back",
  description: [
    `Copies this executable to DIR/${NAME} (default: ${DEFAULT_DIRECTORY}) and keeps the file that was there as DIR/${PREVIOUS}. The copy is first run with CNI_COMMAND=VERSION, and renamed to ${NAME} only if it answers. The rename is atomic: a concurrent call runs the old file or the new one. If this executable is already installed, nothing changes.`,
    "--rollback exchanges the two files, after the same test of the previous one; a second rollback reverts the first. Asks for confirmation at a terminal. Elsewhere, without --yes, it only prints what it would do and exits with 1.",
  ],
  options: [yesOption, { name: "--rollback", summary: `exchange ${NAME} and ${PREVIOUS}` }],
  examples: [
    { line: "dist/native/host-local install --yes", effect: `install in ${DEFAULT_DIRECTORY}` },
    {
      line: "host-local install /usr/lib/cni --rollback --yes",
      effect: "restore the previous file",
    },
  ],
  run: (context) => {
    const { system } = context;
    const directory = cleanPath(context.operands[0] ?? DEFAULT_DIRECTORY);
    if (kindAt(system, directory) !== "directory") {
      throw new CommandError(
        `install: there is no directory ${directory}; expected the CNI plugin directory`,
      );
    }
    const installation = {
      directory,
      target: join(directory, NAME),
      previous: join(directory, PREVIOUS),
    };
    const kind = kindAt(system, installation.target);
    if (kind !== "file" && kind !== "nothing") {
      throw new CommandError(`install: ${installation.target} is not a regular file`);
    }
    const exists = kind === "file";
    return context.has("--rollback")
      ? rollBack(context, installation, exists)
      : installSelf(context, installation, exists);
  },
};

function installSelf(context: Context, installation: Installation, exists: boolean): Report {
  const { system } = context;
  const { directory, target, previous } = installation;
  if (exists && system.sameContent(SELF, target)) {
    return report(installation, "none", `${target} already is this executable; nothing to do.`);
  }
  const plan = exists
    ? `This executable will be installed as ${target}, and the existing file kept as ${previous}.`
    : `This executable will be installed as ${target}.`;
  if (!isConfirmed(context, `${plan}\n`, "Install it?")) return refused(installation, plan);
  const versions = withCopy(system, SELF, directory, (copy) => {
    const supported = requireVersions(context, copy, "the copy");
    if (exists) keepAs(system, installation, target, previous);
    system.rename(copy, target);
    return supported;
  });
  const kept = exists ? ` The file it replaced is now ${previous}.` : "";
  const text = `Installed ${target}, which supports CNI ${versions.join(", ")}.${kept}`;
  return report(installation, "installed", text, versions);
}

function rollBack(context: Context, installation: Installation, exists: boolean): Report {
  const { system } = context;
  const { target, previous } = installation;
  if (kindAt(system, previous) !== "file") {
    throw new CommandError(`install: there is no ${previous} to roll back to`);
  }
  if (exists && system.sameContent(previous, target)) {
    return report(installation, "none", `${target} and ${previous} are the same; nothing to do.`);
  }
  const plan = exists
    ? `${previous} and ${target} will be exchanged.`
    : `${previous} will be renamed to ${target}.`;
  if (!isConfirmed(context, `${plan}\n`, "Roll back?")) return refused(installation, plan);
  const versions = requireVersions(context, previous, previous);
  exchange(system, installation);
  const kept = exists ? ` The file it replaced is now ${previous}.` : "";
  const text = `Restored ${target}, which supports CNI ${versions.join(", ")}.${kept}`;
  return report(installation, "rolledBack", text, versions);
}

/** @throws CommandError if an executable does not answer VERSION */
function requireVersions({ system }: Context, path: string, what: string): readonly string[] {
  const versions = supportedVersions(system, path);
  if (versions !== undefined) return versions;
  throw new CommandError(
    `install: ${what} does not answer CNI_COMMAND=VERSION as a CNI plugin; nothing was changed. Check that the file system is not mounted noexec, and that the file is for this architecture`,
  );
}

function report(
  { target, previous }: Installation,
  action: "installed" | "rolledBack" | "none" | "refused",
  text: string,
  versions: readonly string[] = [],
): Report {
  return {
    exitCode: action === "refused" ? 1 : 0,
    document: { action, target, previous, versions },
    text: `${text}\n`,
  };
}

function refused(installation: Installation, plan: string): Report {
  return report(
    installation,
    "refused",
    `${plan}\nNothing was changed: use --yes, or answer y at a terminal.`,
  );
}
