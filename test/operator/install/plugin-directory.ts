/** Plugin directories for `install`, and other plugins to put into them. */

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
export const MULTICALL = `#!/bin/sh
case "\${0##*/}" in
host-local) printf '{"cniVersion":"1.0.0","supportedVersions":["1.0.0"]}' ;;
*) echo "no plugin \${0##*/}" >&2; exit 1 ;;
esac
`;

/** A script that answers VERSION as a plugin of these CNI versions. */
export function answering(...versions: readonly string[]): string {
  const answer = JSON.stringify({ cniVersion: versions.at(-1), supportedVersions: versions });
  return `#!/bin/sh\nprintf '${answer}'\n`;
}

/** A script that describes itself as a version of the executable under test, and answers VERSION. */
export function ourVersion(version: string): string {
  return `#!/bin/sh
if [ "$CNI_COMMAND" = VERSION ]; then
  printf '{"cniVersion":"1.0.0","supportedVersions":["1.0.0"]}'
else
  echo 'CNI host-local plugin ${version}
CNI protocol versions supported: 1.0.0
With arguments it is a tool for operators: host-local --help' >&2
fi
`;
}

/** A plugin directory and what is in it. */
export class PluginDirectory {
  readonly path: string;
  readonly target: string;
  readonly previous: string;
  readonly replaced: string;

  constructor(path: string) {
    this.path = path;
    this.target = join(path, "host-local");
    this.previous = join(path, "host-local.previous");
    this.replaced = join(path, "host-local.replaced");
  }

  /** Puts an executable there, replacing a file of that name. */
  put(name: string, content: string): void {
    writeFileSync(join(this.path, name), content, { mode: 0o755 });
  }

  /** Puts the plugin there as k3s does: `host-local -> cni`. */
  putMulticall(): void {
    this.put("cni", MULTICALL);
    symlinkSync("cni", this.target);
  }

  read(name: string): string {
    return readFileSync(join(this.path, name), "utf8");
  }

  get names(): readonly string[] {
    return readdirSync(this.path).sort();
  }

  /** Runs `install` for this directory: exit code, standard output and standard error. */
  install(...options: readonly string[]): [number | null, string, string] {
    const { exitCode, stdout, stderr } = tool(["install", this.path, ...options]);
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
