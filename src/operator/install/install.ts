import { cleanPath, join } from "../../store/location.ts";
import { type Command, CommandError, type Context, type Report } from "../command/command.ts";
import { isConfirmed, yesOption } from "../command/confirm.ts";
import {
  exchange,
  keepAs,
  type NetworkDirectory,
  spokenVersions,
  standsAt,
  withCopy,
} from "./installation.ts";

const DEFAULT_DIRECTORY = "/opt/cni/bin";

/** The name by which configurations call the plugin. */
const NAME = "host-local";

const PREVIOUS = "host-local.previous";

/** This executable, whatever has become of its name. */
const SELF = "/proc/self/exe";

/** `install`: puts this executable among the plugins, and takes it back. */
export const install: Command = {
  name: "install",
  operands: "[DIR]",
  operandCount: { least: 0, most: 1 },
  summary: "put this executable into the plugin directory, or roll that back",
  description: [
    `Copies this executable to DIR/${NAME} (default: ${DEFAULT_DIRECTORY}) and keeps what was there as DIR/${PREVIOUS}. The copy is first run with CNI_COMMAND=VERSION; only when it answers does it get its name, in one step: a call that comes meanwhile meets the old file or the new one. Where this very executable is installed already, nothing is done.`,
    "--rollback exchanges the two files, after asking the previous one in the same way; a second rollback takes the first one back. Asks at a terminal; elsewhere it needs --yes, and without it only says what it would do and ends with 1.",
  ],
  options: [yesOption, { name: "--rollback", summary: `exchange ${NAME} and ${PREVIOUS}` }],
  examples: [
    { line: "dist/native/host-local install --yes", effect: `install in ${DEFAULT_DIRECTORY}` },
    {
      line: "host-local install /usr/lib/cni --rollback --yes",
      effect: "go back to what was there before",
    },
  ],
  run: (context) => {
    const { system } = context;
    const directory = cleanPath(context.operands[0] ?? DEFAULT_DIRECTORY);
    if (standsAt(system, directory) !== "directory") {
      throw new CommandError(
        `install: there is no directory ${directory}; name that of the plugins`,
      );
    }
    const place = { directory, target: join(directory, NAME), previous: join(directory, PREVIOUS) };
    const kind = standsAt(system, place.target);
    if (kind !== "file" && kind !== "nothing") {
      throw new CommandError(`install: ${place.target} is no regular file`);
    }
    const isThere = kind === "file";
    return context.has("--rollback")
      ? rollBack(context, place, isThere)
      : putThere(context, place, isThere);
  },
};

function putThere(context: Context, place: NetworkDirectory, isThere: boolean): Report {
  const { system } = context;
  const { directory, target, previous } = place;
  if (isThere && system.sameContent(SELF, target)) {
    return report(place, "none", `${target} is this executable already; nothing to do.`);
  }
  const plan = isThere
    ? `This executable would become ${target}; what is there would become ${previous}.`
    : `This executable would become ${target}, where nothing is yet.`;
  if (!isConfirmed(context, `${plan}\n`, "Install it?")) return refused(place, plan);
  const versions = withCopy(system, SELF, directory, (copy) => {
    const spoken = requireAnswer(context, copy, "the copy");
    if (isThere) keepAs(system, place, target, previous);
    system.rename(copy, target);
    return spoken;
  });
  const kept = isThere ? ` What was there is ${previous} now.` : "";
  const text = `${target} is this executable now; it speaks CNI ${versions.join(", ")}.${kept}`;
  return report(place, "installed", text, versions);
}

function rollBack(context: Context, place: NetworkDirectory, isThere: boolean): Report {
  const { system } = context;
  const { target, previous } = place;
  if (standsAt(system, previous) !== "file") {
    throw new CommandError(`install: there is no ${previous} to go back to`);
  }
  if (isThere && system.sameContent(previous, target)) {
    return report(place, "none", `${target} and ${previous} are the same; nothing to do.`);
  }
  const plan = `${previous} would become ${target}${isThere ? ", and the other way round" : ""}.`;
  if (!isConfirmed(context, `${plan}\n`, "Roll back?")) return refused(place, plan);
  const versions = requireAnswer(context, previous, previous);
  exchange(system, place);
  const kept = isThere ? ` What was there is ${previous} now.` : "";
  const text = `${target} is what was kept; it speaks CNI ${versions.join(", ")}.${kept}`;
  return report(place, "rolledBack", text, versions);
}

/** A file that does not answer never gets the name of the plugin. */
function requireAnswer({ system }: Context, path: string, what: string): readonly string[] {
  const versions = spokenVersions(system, path);
  if (versions !== undefined) return versions;
  throw new CommandError(
    `install: ${what} does not answer CNI_COMMAND=VERSION as a plugin does; nothing was changed. Is the directory mounted noexec, or the file for another machine?`,
  );
}

function report(
  { target, previous }: NetworkDirectory,
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

function refused(place: NetworkDirectory, plan: string): Report {
  return report(
    place,
    "refused",
    `${plan}\nNothing was changed: say --yes, or answer y at a terminal.`,
  );
}
