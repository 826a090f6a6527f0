/** Packages for distributions that use RPM. */

import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Architecture } from "../build/architecture.ts";
import { command } from "../build/command.ts";
import { settle, stage } from "./archive.ts";
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

const PLUGINS = "/usr/libexec/cni";

const LICENSES = "usr/share/licenses/host-local";

const layout: Layout = {
  // The directory of CNI plugins has the host-local of containernetworking-plugins, which cri-o and podman need.
  executables: ["usr/libexec/host-local", "usr/sbin"],
  zshCompletions: "usr/share/zsh/site-functions",
  licenses: LICENSES,
  unitPaths: {
    "METRICS_DIRECTORY=/var/lib/prometheus/node-exporter":
      "METRICS_DIRECTORY=/var/lib/node_exporter/textfile_collector",
    "INSTALL_OPTIONS=/opt/cni/bin": `INSTALL_OPTIONS=${PLUGINS}`,
  },
};

/** How the plugin comes to where runtimes look. */
const INTO_PLACE = `The plugin is /usr/libexec/host-local/host-local, beside any other package. To
replace that of the distribution: host-local install ${PLUGINS} --yes;
when its package is upgraded, this one is put back. Before this package is
removed: host-local install ${PLUGINS} --uninstall --yes.`;

/** The name of the package, such as `host-local-1.0.0-1.aarch64.rpm`. */
export function rpmName(source: Pick<Source, "version">, { rpm }: Architecture): string {
  return `host-local-${packageVersion(source)}-1.${rpm}.rpm`;
}

/** Writes the package, and returns its path. */
export function writeRpm(input: PackageInput): string {
  const { built, files, source, directory } = input;
  // rpmbuild does not quote paths, so it works where there is no blank in them.
  const work = mkdtempSync(join(tmpdir(), "host-local-rpm-"));
  const staging = join(work, "staging");
  const path = join(directory, rpmName(source, built.architecture));
  mkdirSync(staging, { recursive: true });
  const installed = installedFiles(files, layout);
  stage(installed, staging);
  settle(staging, source.time);
  const spec = join(work, "host-local.spec");
  writeFileSync(spec, specOf(input, installed));
  const definitions = {
    _topdir: work,
    // Debian has the database in the home directory.
    _dbpath: join(work, "database"),
    staging,
    _rpmdir: join(work, "RPMS"),
    _rpmfilename: basename(path),
    // The same bytes on each machine.
    _buildhost: "localhost",
    use_source_date_epoch_as_buildtime: "1",
    clamp_mtime_to_source_date_epoch: "1",
    _binary_payload: "w9.gzdio",
    // The executable stays as it is.
    __os_install_post: "%{nil}",
    debug_package: "%{nil}",
    _build_id_links: "none",
  };
  command(
    [
      ...["rpmbuild", "-bb", "--quiet", "--target", `${built.architecture.rpm}-linux`],
      ...Object.entries(definitions).flatMap(([name, value]) => ["--define", `${name} ${value}`]),
      spec,
    ],
    { environment: { SOURCE_DATE_EPOCH: `${source.time}` } },
  );
  copyFileSync(join(work, "RPMS", basename(path)), path);
  rmSync(work, { recursive: true });
  return path;
}

function specOf(
  { built, source, maintainer }: PackageInput,
  installed: readonly ReleaseFile[],
): string {
  const licenses = new Set(["Apache-2.0", ...built.components.map(({ license }) => license)]);
  return `Name: host-local
Version: ${packageVersion(source)}
Release: 1
Summary: ${SUMMARY}
License: ${[...licenses].join(" AND ")}
Packager: ${maintainer}
AutoReqProv: no

%description
${DESCRIPTION.join("\n")}

${INTO_PLACE}

%install
cp -a %{staging}/. %{buildroot}/

%preun
if [ "$1" = 0 ] && command -v systemctl >/dev/null; then
  systemctl --quiet --no-reload disable ${UNITS_TO_ENABLE.join(" ")} || :
  if [ -d /run/systemd/system ]; then systemctl stop ${ALL_UNITS.join(" ")} || :; fi
fi

%postun
# The calls that failed since the last boot.
if [ "$1" = 0 ]; then rm -rf /run/host-local; fi
if [ -d /run/systemd/system ]; then systemctl daemon-reload || :; fi

%posttrans
# After an upgrade, what runs is the file that was replaced.
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload || :
  systemctl try-restart ${UNITS_TO_ENABLE.join(" ")} || :
fi

%transfiletriggerin -- ${PLUGINS}
# Another package has put its plugin there; nothing happens where this one was not installed.
/usr/sbin/host-local install ${PLUGINS} --if-replaced --yes || :

%files
${ownDirectories(installed)
  .map((name) => `%dir %attr(0755,root,root) /${name}`)
  .join("\n")}
${installed.map(lineOf).join("\n")}
`;
}

/** The directories that go with the package. */
function ownDirectories(installed: readonly ReleaseFile[]): readonly string[] {
  const owned = installed
    .map(({ name }) => dirname(name))
    .filter((name) => /\/host-local(\/|$)/.test(name));
  return [...new Set(owned)].sort();
}

function lineOf({ name, mode }: ReleaseFile): string {
  const kind = name.startsWith(`${DOCUMENTATION}/`)
    ? "%doc "
    : name.startsWith(`${LICENSES}/`)
      ? "%license "
      : "";
  return `${kind}%attr(0${mode.toString(8)},root,root) /${name}`;
}
