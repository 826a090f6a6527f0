/** Packages for Debian and its derivatives, see the Debian Policy Manual. */

import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Architecture } from "../build/architecture.ts";
import { root } from "../build/bundle.ts";
import { command } from "../build/command.ts";
import { compressed, settle, stage } from "./archive.ts";
import {
  ALL_UNITS,
  DESCRIPTION,
  DOCUMENTATION,
  installedFiles,
  type Layout,
  type PackageInput,
  packageVersion,
  SUMMARY,
  UNITS_TO_ENABLE,
} from "./package.ts";
import type { ReleaseFile, Source } from "./release.ts";

const layout: Layout = {
  executables: ["usr/lib/cni", "usr/sbin"],
  zshCompletions: "usr/share/zsh/vendor-completions",
};

/** The stock plugin gives way to this one, and comes back when the package is removed: Debian Policy, appendix on diversions. */
const DIVERSION =
  "--package host-local --rename --divert /usr/lib/cni/host-local.distrib /usr/lib/cni/host-local";

/** What dpkg runs, by the name of the script. */
const scripts: Readonly<Record<string, string>> = {
  preinst: `
case "$1" in
install | upgrade) dpkg-divert --add ${DIVERSION} ;;
esac
`,
  // No unit is enabled; update-state lets a purge remove the links of those that an administrator has enabled.
  postinst: `
if [ "$1" = configure ] && command -v deb-systemd-helper >/dev/null; then
  deb-systemd-helper update-state ${UNITS_TO_ENABLE.join(" ")} >/dev/null
fi
if [ -d /run/systemd/system ]; then
  systemctl --system daemon-reload || true
  # After an upgrade, what runs is the file that was replaced.
  if [ "$1" = configure ] && [ -n "$2" ]; then
    deb-systemd-invoke try-restart ${UNITS_TO_ENABLE.join(" ")} || true
  fi
fi
`,
  prerm: `
if [ "$1" = remove ] && [ -z "$HOST_LOCAL_FORCE" ]; then
  # The plugins as they would be, in a directory of its own: what may not be done there may not be done here.
  directory=$(mktemp --directory /run/host-local.XXXXXX)
  ln -s /usr/sbin/host-local "$directory/host-local"
  if [ -e /usr/lib/cni/host-local.distrib ]; then
    ln -s /usr/lib/cni/host-local.distrib "$directory/host-local.previous"
  fi
  status=0
  /usr/sbin/host-local install "$directory" --uninstall --yes >/dev/null || status=$?
  rm -r "$directory"
  # Any other failure is of a program that does not run, and no reason to keep it.
  if [ "$status" = 1 ] || [ "$status" = 2 ]; then
    echo "To remove the package nevertheless: HOST_LOCAL_FORCE=1 dpkg --remove host-local" >&2
    exit 1
  fi
fi
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  deb-systemd-invoke stop ${ALL_UNITS.join(" ")} || true
fi
`,
  postrm: `
case "$1" in
remove | abort-install | disappear) dpkg-divert --remove ${DIVERSION} ;;
purge)
  if command -v deb-systemd-helper >/dev/null; then
    deb-systemd-helper purge ${UNITS_TO_ENABLE.join(" ")} >/dev/null
  fi
  # The calls that failed since the last boot.
  rm -rf /run/host-local
  ;;
esac
if [ -d /run/systemd/system ]; then systemctl --system daemon-reload || true; fi
`,
};

/** The name of the package, such as `host-local_1.0.0-1_arm64.deb`. */
export function debName(source: Pick<Source, "version">, { debian }: Architecture): string {
  return `host-local_${packageVersion(source)}-1_${debian}.deb`;
}

/** Writes the package, and returns its path. */
export function writeDeb(input: PackageInput): string {
  const { built, files, source, directory } = input;
  const staging = join(directory, "staging");
  const path = join(directory, debName(source, built.architecture));
  mkdirSync(staging);
  stage([...installedFiles(files, layout), ...ofDebian(input)], staging);
  const [size = ""] = command([
    "du",
    "--summarize",
    "--apparent-size",
    "--block-size=1K",
    staging,
  ]).split("\t");
  stage(
    [
      { name: "DEBIAN/control", mode: 0o644, text: control(input, size) },
      { name: "DEBIAN/md5sums", mode: 0o644, text: md5sums(staging) },
      ...Object.entries(scripts).map(
        ([name, text]): ReleaseFile => ({
          name: `DEBIAN/${name}`,
          mode: 0o755,
          text: `#!/bin/sh\nset -e\n${text}`,
        }),
      ),
    ],
    staging,
  );
  settle(staging, source.time);
  command(
    [
      ...["dpkg-deb", "--root-owner-group", "--uniform-compression", "-Zxz", "--threads-max=1"],
      ...["--build", staging, path],
    ],
    { environment: { SOURCE_DATE_EPOCH: `${source.time}` } },
  );
  rmSync(staging, { recursive: true });
  return path;
}

function control({ built, source, maintainer }: PackageInput, size: string): string {
  return `Package: host-local
Version: ${packageVersion(source)}-1
Architecture: ${built.architecture.debian}
Maintainer: ${maintainer}
Installed-Size: ${size}
Section: net
Priority: optional
Enhances: containernetworking-plugins
Description: ${SUMMARY}
${DESCRIPTION.map((line) => ` ${line}\n`).join("")}`;
}

/** The files that only packages of Debian have. */
function ofDebian(input: PackageInput): readonly ReleaseFile[] {
  const { source, maintainer } = input;
  const changes = readFileSync(join(root, "CHANGELOG.md"));
  const date = new Date(source.time * 1000).toUTCString().replace("GMT", "+0000");
  const packaged = `host-local (${packageVersion(source)}-1) unstable; urgency=medium

  * Release ${source.version}; its changes are in changelog.gz.

 -- ${maintainer}  ${date}
`;
  return [
    { name: `${DOCUMENTATION}/changelog.gz`, mode: 0o644, text: compressed(changes) },
    { name: `${DOCUMENTATION}/changelog.Debian.gz`, mode: 0o644, text: compressed(packaged) },
    { name: `${DOCUMENTATION}/copyright`, mode: 0o644, text: copyright(input) },
    {
      name: "usr/share/lintian/overrides/host-local",
      mode: 0o644,
      text: `# The plugin has to run on each node, whatever is installed there.
host-local: statically-linked-binary [usr/lib/cni/host-local]
host-local: statically-linked-binary [usr/sbin/host-local]
# It changes nothing that its package has installed; an image of it has no dpkg-query.
host-local: uses-dpkg-database-directly [usr/lib/cni/host-local]
host-local: uses-dpkg-database-directly [usr/sbin/host-local]
# Not the first of PATH: that may be another, which an administrator has built.
host-local: command-with-path-in-maintainer-script /usr/sbin/host-local *
# It is no upload to Debian.
host-local: initial-upload-closes-no-bugs
`,
    },
  ];
}

/** All texts are in this one file: what else is in its directory need not be installed. */
function copyright({ files, source: { time } }: PackageInput): string {
  const notices = files.find(({ name }) => name === "THIRD-PARTY-NOTICES");
  const texts = notices === undefined || !("text" in notices) ? "" : notices.text;
  return `host-local
Copyright: ${new Date(time * 1000).getUTCFullYear()} the authors of host-local
License: Apache-2.0
On Debian systems, the text of the Apache License 2.0 is in
/usr/share/common-licenses/Apache-2.0.

${texts}`;
}

/** What `dpkg --verify` compares. */
function md5sums(staging: string): string {
  const names = command(
    ["find", ".", "-type", "f", "-not", "-path", "./DEBIAN/*", "-printf", "%P\\n"],
    {
      directory: staging,
    },
  );
  return command(["md5sum", ...names.trim().split("\n").sort()], { directory: staging });
}
