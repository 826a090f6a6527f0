/** The files that go with an executable: the one list that the archives and the packages take from. */

import { join } from "node:path";
import { emulator } from "../build/architecture.ts";
import { root } from "../build/bundle.ts";
import { command } from "../build/command.ts";
import { noticesFor } from "./notices.ts";
import type { BuiltVariant, ReleaseFile, Source } from "./release.ts";

/** What the executable itself writes, by the name of the file. */
const written = [
  ["host-local.8", ["man"]],
  ["host-local.bash", ["completion", "bash"]],
  ["_host-local", ["completion", "zsh"]],
  ["host-local.fish", ["completion", "fish"]],
] as const;

/**
 * Lists the files for an executable, which is run to write its man page and completions.
 *
 * @throws when the executable does not run
 */
export function filesOf(built: BuiltVariant, source: Source): readonly ReleaseFile[] {
  return [
    { name: "host-local", mode: 0o755, from: built.executable },
    { name: "static", mode: 0o755, linkTo: "host-local" },
    { name: "LICENSE", mode: 0o644, from: join(root, "LICENSE") },
    { name: "THIRD-PARTY-NOTICES", mode: 0o644, text: noticesFor(built, source) },
    ...written.map(
      ([name, words]): ReleaseFile => ({ name, mode: 0o644, text: outputOf(built, words) }),
    ),
    ...examples().map((path): ReleaseFile => ({ name: path, mode: 0o644, from: join(root, path) })),
  ];
}

/** The example files of the commit, relative to the root. */
function examples(): readonly string[] {
  return command(["git", "ls-files", "conf-examples"]).trim().split("\n");
}

/** Runs an operator command. */
export function outputOf(
  { architecture, executable }: Pick<BuiltVariant, "architecture" | "executable">,
  words: readonly string[],
): string {
  return command([...emulator(architecture), executable, ...words], {
    environment: { CNI_COMMAND: "" },
  });
}
