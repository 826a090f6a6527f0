import { type Command, type Context, UsageError } from "../../cli/command/command.ts";
import { isConfirmed, yesOption } from "../../cli/command/confirm.ts";
import { inOneLine } from "../../cli/output/escape.ts";
import { PLUGIN, STATIC } from "../configured/plugin-directories.ts";
import { removeAbandoned } from "../temporary-files.ts";
import { notUnderstood } from "./going-back.ts";
import { asOption, ifReplacedOption, type Outcome, putInPlace } from "./installing.ts";
import { placeIn, requireProtected } from "./place.ts";
import { forceOption, putBack } from "./uninstalling.ts";

const uninstallOption = {
  name: "--uninstall",
  summary: "put the other plugin back that was there before, or remove this one if there was none",
};

const { target: TARGET, previous: PREVIOUS, marker: MARKER } = placeIn("DIR", PLUGIN);

/** `install`: puts this executable in place as a CNI plugin, and puts back what was there. */
export const install: Command = {
  name: "install",
  operands: "DIR",
  summary: "install this executable in the CNI plugin directory, or uninstall it",
  description: [
    `Copies this executable to ${TARGET}, in the directory where the runtime looks for CNI plugins: mostly /opt/cni/bin; bin_dir or bin_dirs in the configuration of containerd, plugin_dirs in that of CRI-O. The copy is first run with CNI_COMMAND=VERSION, and renamed only if it answers within ten seconds. The rename is atomic: a concurrent call runs the old file or the new one. ${MARKER} says that it is installed.`,
    `${PREVIOUS} is the other plugin that was replaced last, never a version of this executable; one that does not answer does not displace one that does.`,
    `--as installs it under another name, which configurations use as type: for nodes where an installer owns ${PLUGIN}. A file of that name that is no version of this executable is refused, unless this executable was installed there. What is said of ${PLUGIN} here then applies to that name, and the other commands find configurations with it. --as ${STATIC} makes it the IPAM plugin ${STATIC}, which it is when called by that name, and replaces another ${STATIC}.`,
    "--if-replaced installs it again where another installer has overwritten or removed it, and does nothing where no installation was completed, after --uninstall, or if another version of it is there: for timers and host-local agent, so nothing is printed then.",
    `--uninstall renames ${PREVIOUS} to ${TARGET}, after the same test, or removes this executable if there is none. Where another plugin has taken its place, that one stays. Asks for confirmation at a terminal. Elsewhere, without --yes, it only prints what it would do and exits with 1. What the .deb has installed is left to dpkg.`,
    `The Go plugin does not understand ${notUnderstood.join(", ")}. Where a configuration of this node ($NETCONFPATH, or the known directories) has one of them, --uninstall names it with what would happen, and refuses without ${forceOption.name} (exit code 1). So it does where the former plugin does not answer, as one in a container that needs the node's libraries, and where a configuration would have no plugin.`,
  ],
  options: [yesOption, asOption, ifReplacedOption, uninstallOption, forceOption],
  exclusive: [[uninstallOption.name, ifReplacedOption.name]],
  examples: [
    { line: "dist/native/host-local install /opt/cni/bin --yes", effect: "install it" },
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
    const { system, has, operands } = context;
    const place = placeIn(operands[0] ?? "", nameOf(context));
    requireProtected(system, place);
    if (has(yesOption.name)) removeAbandoned(system, place.directory);
    const change = has(uninstallOption.name) ? putBack : putInPlace;
    const confirm = (plan: readonly string[]): Outcome | undefined => {
      if (isConfirmed(context, textOf(plan), "Continue?")) return undefined;
      const refusal = "Nothing was changed: use --yes, or answer y at a terminal.";
      return { action: "refused", lines: [...plan, refusal] };
    };
    const { action, lines, versions = [], ...refused } = change(context, place, confirm);
    return {
      ...refused,
      exitCode: action === "refused" ? 1 : 0,
      document: () => ({ action, target: place.target, versions }),
      text: () => textOf(lines),
    };
  },
};

/** @throws UsageError unless it can be the name of a plugin, and of its file, beside which others have names with a dot */
function nameOf({ option }: Context): string {
  const name = option(asOption.name) ?? PLUGIN;
  if (/^[A-Za-z0-9][\w-]{0,99}$/.test(name)) return name;
  throw new UsageError(
    `${asOption.name}: expected a name of its own such as host-local-ts, found ${name}`,
  );
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${inOneLine(line)}\n`).join("");
}
