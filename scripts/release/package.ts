/** What packages have in common: where each file is installed, and how the program is described. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../build/bundle.ts";
import { command } from "../build/command.ts";
import { compressed } from "./archive.ts";
import type { BuiltVariant, ReleaseFile, Source } from "./release.ts";

/** A package to make. */
export interface PackageInput {
  readonly built: BuiltVariant;
  /** What the archive of the executable has. */
  readonly files: readonly ReleaseFile[];
  readonly source: Source;
  /** Who answers for the package, such as `Jane Doe <jane@example.org>`. */
  readonly maintainer: string;
  /** Where to write it. */
  readonly directory: string;
}

/** Where the files are that distributions place differently, relative to `/`. */
export interface Layout {
  /** The directories of the executable: the one of CNI plugins, and the one of the operator's tool. */
  readonly executables: readonly string[];
  readonly zshCompletions: string;
  /** What the units have in place of Debian's paths. */
  readonly unitPaths?: Readonly<Record<string, string>>;
  /** The directory of the licences; absent where the package has them in another form. */
  readonly licenses?: string;
}

/** One line, as package managers list it. */
export const SUMMARY = "CNI IPAM plugin host-local with commands for operators";

/** A few lines that describe the program. */
export const DESCRIPTION = [
  "host-local assigns addresses to containers from configured ranges and keeps",
  "its reservations in files of the node. It replaces the plugin of the same",
  "name in the CNI project's plugins and works with its reservations.",
  "The same executable lists and releases reservations, checks a node, and",
  "writes metrics.",
];

const TIMED = ["gc", "install", "metrics"];

/** The units of the packages that an administrator may enable. */
export const UNITS_TO_ENABLE = [
  "host-local-agent.service",
  ...TIMED.map((name) => `host-local-${name}.timer`),
];

/** All units of the packages, in which a program of theirs may run. */
export const ALL_UNITS = [...UNITS_TO_ENABLE, ...TIMED.map((name) => `host-local-${name}.service`)];

/** The directory of the documentation. */
export const DOCUMENTATION = "usr/share/doc/host-local";

/** The directory of systemd's units. */
export const UNITS = "usr/lib/systemd/system";

/** Where systemd reads which units a first start enables. */
const PRESETS = "usr/lib/systemd/system-preset";

const EXAMPLES = /^conf-examples\//;

/** Where the examples expect the tool: an administrator installs it there, and a package beside the other tools of the system. */
const TOOL = "/usr/local/sbin/host-local";
const PACKAGED_TOOL = "/usr/sbin/host-local";

/** Lists the files of a package, by their paths relative to `/`. */
export function installedFiles(
  files: readonly ReleaseFile[],
  layout: Layout,
): readonly ReleaseFile[] {
  const places: Readonly<Record<string, readonly string[]>> = {
    "host-local": layout.executables.map((directory) => `${directory}/host-local`),
    // Only one plugin of the distribution is replaced.
    static: [],
    ...Object.fromEntries(
      ["LICENSE", "THIRD-PARTY-NOTICES"].map((name) => [
        name,
        layout.licenses === undefined ? [] : [`${layout.licenses}/${name}`],
      ]),
    ),
    "host-local.cdx.json": ["usr/share/host-local/host-local.cdx.json"],
    "host-local.8": ["usr/share/man/man8/host-local.8.gz"],
    "host-local.bash": ["usr/share/bash-completion/completions/host-local"],
    "_host-local": [`${layout.zshCompletions}/_host-local`],
    "host-local.fish": ["usr/share/fish/vendor_completions.d/host-local.fish"],
  };
  return [
    ...files.flatMap((file) =>
      (places[file.name] ?? placesOfExample(file.name)).map((name) =>
        EXAMPLES.test(file.name) ? example(file, name, layout) : placed(file, name),
      ),
    ),
    ...documents().map(
      (path): ReleaseFile => ({
        name: `${DOCUMENTATION}/${path}`,
        mode: 0o644,
        from: join(root, path),
      }),
    ),
  ];
}

/** An example; of the units and their preset also where systemd finds them. */
function placesOfExample(name: string): readonly string[] {
  if (!EXAMPLES.test(name)) throw new Error(`The packages have no place for ${name}.`);
  const unit = /\/(host-local-\w+\.(?:service|timer))$/.exec(name)?.[1];
  const preset = /\/(host-local\.preset)$/.exec(name)?.[1];
  return [
    `${DOCUMENTATION}/${name.replace(EXAMPLES, "examples/")}`,
    ...(unit === undefined ? [] : [`${UNITS}/${unit}`]),
    ...(preset === undefined ? [] : [`${PRESETS}/90-${preset}`]),
  ];
}

/** An example with the paths of the package. */
function example(file: ReleaseFile, name: string, { unitPaths = {} }: Layout): ReleaseFile {
  if (!("from" in file)) throw new Error(`${name} is a file of the repository`);
  const isUnit = name.startsWith(`${UNITS}/`);
  const paths = { [TOOL]: PACKAGED_TOOL, ...(isUnit ? unitPaths : {}) };
  let text = readFileSync(file.from, "utf8");
  for (const [path, other] of Object.entries(paths)) text = text.replaceAll(path, other);
  return { name, mode: file.mode, text };
}

function placed(file: ReleaseFile, name: string): ReleaseFile {
  return name.endsWith(".gz") && "text" in file
    ? { name, mode: file.mode, text: compressed(file.text) }
    : { ...file, name };
}

/** The documentation of the commit with its pictures, relative to the root. */
function documents(): readonly string[] {
  const patterns = ["README.md", "SECURITY.md", "docs/*.md", "docs/*.svg"];
  const pages = command(["git", "ls-files", ...patterns]);
  return pages.trim().split("\n");
}

/** A version as Debian and RPM order it: that of `1.1.0-rc.1` is before that of `1.1.0`. */
export function packageVersion({ version }: Pick<Source, "version">): string {
  return version.replaceAll("-", "~");
}
