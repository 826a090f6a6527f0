/** Plugin directories for `install`, and other plugins to put into them. */

import { spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { executable } from "../../harness/executable.ts";
import { tool } from "../../harness/tool.ts";

/** The CNI versions of the executable under test, as `install` prints them. */
export const VERSIONS = "0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0";

/** A script that answers VERSION as a plugin. */
export const OTHER = answering("1.0.0", "1.1.0");

/** A plugin that is several in one, and looks at the name that it is called by, as that of k3s. */
const MULTICALL = `
#include <stdio.h>
#include <string.h>
int main(int count, char **words) {
  const char *slash = count > 0 ? strrchr(words[0], '/') : NULL, *name = slash ? slash + 1 : words[0];
  if (strcmp(name, "host-local") != 0 && strcmp(name, "static") != 0) return 1;
  return puts("{\\"cniVersion\\":\\"1.0.0\\",\\"supportedVersions\\":[\\"1.0.0\\"]}") < 0;
}
`;

/** A script would not do: the kernel gives it its path in place of the name. */
export const skipWithoutCompiler: string | false =
  spawnSync("cc", ["--version"]).status === 0 ? false : "There is no C compiler.";

/** A script that answers VERSION as a plugin of these CNI versions. */
export function answering(...versions: readonly string[]): string {
  const answer = JSON.stringify({ cniVersion: versions.at(-1), supportedVersions: versions });
  return `#!/bin/sh\nprintf '${answer}'\n`;
}

/** A script that describes itself as a version of the executable under test, and answers VERSION. */
export function thisProgram(version: string): string {
  return describing(
    `CNI host-local plugin ${version}
CNI protocol versions supported: 1.0.0
With arguments it is a tool for operators: host-local --help`,
  );
}

/** A script that describes itself as a version of the Go plugin, and answers VERSION. */
export function hostLocal(version: string): string {
  return describing(`CNI host-local plugin ${version}`);
}

function describing(description: string): string {
  return `#!/bin/sh
if [ "$CNI_COMMAND" = VERSION ]; then
  printf '{"cniVersion":"1.0.0","supportedVersions":["1.0.0"]}'
else
  echo '${description}' >&2
fi
`;
}

/** A plugin directory and what is in it. */
export class PluginDirectory {
  readonly path: string;
  readonly target: string;
  readonly previous: string;

  constructor(path: string) {
    this.path = path;
    this.target = join(path, "host-local");
    this.previous = join(path, "host-local.previous");
  }

  /** Puts an executable there, replacing a file of that name. */
  put(name: string, content: string): void {
    writeFileSync(join(this.path, name), content, { mode: 0o755 });
  }

  /** Puts a plugin there as k3s does: `host-local -> cni`. */
  putMulticall(name = "host-local"): void {
    const words = ["-x", "c", "-", "-o", join(this.path, "cni")];
    const { status, stderr } = spawnSync("cc", words, { input: MULTICALL, encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
    symlinkSync("cni", join(this.path, name));
  }

  read(name: string): string {
    return readFileSync(join(this.path, name), "utf8");
  }

  get names(): readonly string[] {
    return readdirSync(this.path).sort();
  }

  /** Runs `install` for this directory: exit code, standard output and standard error. */
  install(...options: readonly string[]): [number | null, string, string] {
    // A node without configurations, whatever this machine has.
    const environment = { NETCONFPATH: this.path };
    const { exitCode, stdout, stderr } = tool(["install", this.path, ...options], { environment });
    return [exitCode, stdout, stderr];
  }
}

/** An empty plugin directory. */
export function emptyDirectory(t: Pick<Test, "teardown">): PluginDirectory {
  return new PluginDirectory(scratchDirectory(t));
}

/** A plugin directory with `OTHER` in it. */
export function directoryWithOther(t: Pick<Test, "teardown">): PluginDirectory {
  const directory = emptyDirectory(t);
  directory.put("host-local", OTHER);
  return directory;
}

/** Whether a file is the executable under test. */
export function isExecutable(path: string): boolean {
  return existsSync(path) && readFileSync(path).equals(readFileSync(executable));
}

/** Whether a path is a symbolic link. */
export function isLink(path: string): boolean {
  return lstatSync(path).isSymbolicLink();
}
