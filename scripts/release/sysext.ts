/**
 * System extension images for Flatcar and other systems whose /usr is read-only, see systemd-sysext(8).
 *
 * An extension with files in /opt would make all of /opt read-only, and other installers write to /opt/cni/bin. So it has
 * the executable in /usr/bin, and a timer that installs the plugin.
 */

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Architecture } from "../build/architecture.ts";
import { command } from "../build/command.ts";
import { settle, stage } from "./archive.ts";
import { DOCUMENTATION, installedFiles, type Layout, type PackageInput, UNITS } from "./package.ts";
import type { ReleaseFile, Source } from "./release.ts";

// Where /usr/sbin is a link, a directory of that name would hide all that is there.
const layout: Layout = {
  executables: ["usr/bin"],
  zshCompletions: "usr/share/zsh/site-functions",
  licenses: DOCUMENTATION,
  unitPaths: { "/usr/sbin/host-local": "/usr/bin/host-local" },
};

/** Such as `host-local-v1.0.0-arm64.raw`. */
export function sysextName(
  { version }: Pick<Source, "version">,
  { systemd }: Architecture,
): string {
  return `host-local-v${version}-${systemd}.raw`;
}

/** Writes the image, and returns its path. */
export function writeSysext({ built, files, source, directory }: PackageInput): string {
  const { architecture } = built;
  const staging = join(directory, "staging");
  const path = join(directory, sysextName(source, architecture));
  mkdirSync(staging);
  stage([...installedFiles(files, layout), ...ofExtension(architecture)], staging);
  settle(staging, source.time);
  command(
    ["mksquashfs", staging, path, "-noappend", "-all-root", "-no-xattrs", "-no-progress", "-quiet"],
    { environment: { SOURCE_DATE_EPOCH: `${source.time}` } },
  );
  rmSync(staging, { recursive: true });
  return path;
}

function ofExtension({ systemd }: Architecture): readonly ReleaseFile[] {
  return [
    {
      name: "usr/lib/extension-release.d/extension-release.host-local",
      mode: 0o644,
      text: `ID=_any\nARCHITECTURE=${systemd}\nEXTENSION_RELOAD_MANAGER=1\n`,
    },
    {
      name: `${UNITS}/host-local-install.service.d/10-host-local.conf`,
      mode: 0o644,
      text: INSTALL,
    },
    {
      name: `${UNITS}/multi-user.target.d/10-host-local.conf`,
      mode: 0o644,
      text: "[Unit]\nUpholds=host-local-install.timer\n",
    },
  ];
}

// The timer starts it every minute, whatever has merged another version of the extension: each is installed once.
const INSTALL = `[Service]
StateDirectory=host-local
ExecStartPre=+/usr/bin/mkdir -p /opt/cni/bin
ExecStartPre=/bin/sh -c 'sha256sum --check --status /var/lib/host-local/installed 2>/dev/null || { host-local install $$INSTALL_OPTIONS --yes && sha256sum /usr/bin/host-local >/var/lib/host-local/installed; }'
`;
