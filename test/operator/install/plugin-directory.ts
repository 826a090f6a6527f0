/** Plugin directories for `install`, described in words. */

import {
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { markerText } from "../../../src/operator/configured/plugin-directories.ts";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { executable } from "../../harness/executable.ts";
import { tool } from "../../harness/tool.ts";

/** The CNI versions of the executable under test, as `install` prints them. */
export const VERSIONS = "0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0";

/** A script that describes itself as the Go plugin, and answers VERSION. */
export const GO = describing("CNI host-local plugin v1.9.1");

/** A script that describes itself as a version of the executable under test, and answers VERSION. */
export const OLDER = describing(
  `CNI host-local plugin v0.9.0
CNI protocol versions supported: 1.0.0
With arguments it is a tool for operators: host-local --help`,
);

function describing(description: string): string {
  return `#!/bin/sh
if [ "$CNI_COMMAND" = VERSION ]; then
  printf '{"cniVersion":"1.0.0","supportedVersions":["1.0.0"]}'
else
  echo '${description}' >&2
fi
`;
}

/** A file, or a symbolic link. */
type Content = { readonly bytes: Buffer; readonly mode: number } | { readonly link: string };

const file = (content: string | Buffer, mode = 0o755): Content => ({
  bytes: Buffer.from(content),
  mode,
});
const program = readFileSync(executable);
const changed = Buffer.from(program);
changed.writeUInt8((changed.at(-1) ?? 0) ^ 0xff, changed.length - 1);

/** What a name may have. */
const contents: Readonly<Record<string, Content>> = {
  this: file(program),
  "this-linked": { link: executable },
  "this-cut-short": file(program.subarray(0, 300_000)),
  "this-but-a-byte": file(changed),
  "this-not-executable": file(program, 0o644),
  older: file(OLDER),
  "newer-without-loader": file(OLDER.replace("v0.9.0", "v9.0.0").replace("/bin/sh", "/none/sh")),
  go: file(GO),
  "another-go": file(GO.replace("v1.9.1", "v1.9.2")),
  "go-without-loader": file(GO.replace("/bin/sh", "/none/sh")),
  empty: file(""),
  broken: file("#!/bin/sh\nexit 3\n"),
  "link-to-nothing": { link: "nothing" },
  "other-link-to-nothing": { link: "nothing-else" },
  "other-marker": file("installed\n", 0o644),
};

/** A plugin directory and what is in it. */
export class PluginDirectory {
  readonly path: string;
  readonly target: string;
  readonly previous: string;
  readonly marker: string;
  readonly markerText: string;

  constructor(path: string, name = "host-local") {
    this.path = path;
    this.target = join(path, name);
    this.previous = `${this.target}.previous`;
    this.marker = `${this.target}.installed`;
    this.markerText = markerText(name);
  }

  /** Puts an executable there, replacing a file of that name. */
  put(name: string, content: string): void {
    writeFileSync(join(this.path, name), content, { mode: 0o755 });
  }

  get names(): readonly string[] {
    return readdirSync(this.path).sort();
  }

  /** What is there, in the words of {@link directoryWith}, and the names of other files. */
  get state(): string {
    const paths = [this.target, this.previous, this.marker];
    const others = this.names.filter((name) => !paths.includes(join(this.path, name)));
    const isMarked =
      lstatSync(this.marker, { throwIfNoEntry: false })?.isFile() === true &&
      readFileSync(this.marker, "utf8") === this.markerText;
    const mark = isMarked ? "M" : wordFor(this.marker);
    return [wordFor(this.target), wordFor(this.previous), mark, ...others].join(" ");
  }

  /** Runs `install` for this directory: exit code, standard output and standard error. */
  install(...options: readonly string[]): [number | null, string, string] {
    // A node without configurations, whatever this machine has.
    const environment = { NETCONFPATH: this.path };
    const { exitCode, stdout, stderr } = tool(["install", this.path, ...options], { environment });
    return [exitCode, stdout, stderr];
  }
}

/**
 * A plugin directory.
 *
 * @param state what has the plugin's name, what has that of the previous one, and whether the marker is there (`M`), such as
 *   `this go M`
 */
export function directoryWith(
  t: Pick<Test, "teardown">,
  state: string,
  name?: string,
): PluginDirectory {
  const directory = new PluginDirectory(scratchDirectory(t), name);
  const [target = "", previous = "", marker = ""] = state.split(" ");
  put(directory.target, target);
  put(directory.previous, previous);
  if (marker === "M") writeFileSync(directory.marker, directory.markerText);
  else put(directory.marker, marker);
  return directory;
}

function put(path: string, word: string): void {
  if (word === "-") return;
  const content = contents[word];
  if (content === undefined) throw new Error(`There is no content ${word}.`);
  if ("link" in content) symlinkSync(content.link, path);
  else writeFileSync(path, content.bytes, { mode: content.mode });
}

function wordFor(path: string): string {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined) return "-";
  const is = (content: Content): boolean =>
    "link" in content
      ? status.isSymbolicLink() && readlinkSync(path) === content.link
      : status.isFile() &&
        (status.mode & 0o7777) === content.mode &&
        readFileSync(path).equals(content.bytes);
  return Object.keys(contents).find((word) => is(contents[word] ?? { link: "" })) ?? "unknown";
}
