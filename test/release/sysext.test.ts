// test: release
/** The system extension is merged into /usr, and installs the plugin in /opt/cni/bin. */

import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { sysextName } from "../../scripts/release/sysext.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { mountObstacle } from "../harness/mounts.ts";
import { Machine } from "./machine.ts";
import { fileOf, foreign, missing, noForeign, ownArchive, truncated, version } from "./release.ts";

const PLUGIN = "/opt/cni/bin/host-local";
const skip = mountObstacle() ?? missing("systemd-sysext", "unsquashfs");

/** A machine, and how to put an extension there: as a directory, since images need loop devices. */
async function withExtension(t: Test, image: string): Promise<Machine> {
  const machine = await Machine.open(t);
  const extension = "/run/extensions/host-local";
  mkdirSync(machine.at("/run/extensions"));
  const { status, said } = machine.run("unsquashfs", "-quiet", "-dest", extension, image);
  t.equal(status, 0, said);
  return machine;
}

test("the extension is merged, and its unit installs the plugin", { skip }, async (t) => {
  const machine = await withExtension(t, fileOf(sysextName({ version }, ownArchive.architecture)));
  const merged = machine.run("systemd-sysext", "merge");
  t.equal(merged.status, 0, merged.said);
  const first = machine.run("/usr/bin/host-local", "version").said.split("\n")[0];
  t.equal(first, `host-local v${version}`);
  t.equal(machine.run("sh", "-c", "command -v sh").status, 0, "all else is still there");

  const directory = machine.at("/usr/lib/systemd/system");
  const read = (path: string) => readFileSync(join(directory, path), "utf8");
  t.match(read("multi-user.target.d/10-host-local.conf"), "Upholds=host-local-install.timer");
  t.match(machine.run("systemd-analyze", "verify", "host-local-install.service"), {
    status: 0,
    said: "",
  });
  const service = read("host-local-install.service");
  const units = `${read("host-local-install.service.d/10-host-local.conf")}${service}`;
  const [, options = ""] = /^Environment=(INSTALL_OPTIONS=.+)$/m.exec(service) ?? [];
  mkdirSync(machine.at("/var/lib/host-local"));
  // As systemd runs it, every minute.
  const tick = () => {
    for (const [, command = ""] of units.matchAll(/^Exec\w+=\+?(.+)$/gm)) {
      const { status, said } = machine.run(
        "env",
        options,
        "sh",
        "-c",
        command.replaceAll("$$", "$"),
      );
      t.equal(status, 0, said);
    }
  };
  tick();
  const installed = readFileSync(machine.at(PLUGIN));
  t.ok(installed.equals(readFileSync(machine.at("/usr/bin/host-local"))));
  const former = '#!/bin/sh\necho \'{"supportedVersions":["1.0.0"]}\'\n';
  writeFileSync(machine.at(PLUGIN), former, { mode: 0o755 });
  tick();
  t.ok(readFileSync(machine.at(PLUGIN)).equals(installed), "what another installer did is undone");
  t.equal(
    machine.run("/usr/bin/host-local", "install", "/opt/cni/bin", "--uninstall", "--yes").status,
    0,
  );
  tick();
  t.notOk(readIfThere(machine.at(PLUGIN))?.equals(installed), "what the administrator did is not");

  // Another version of the extension: this program with a byte more.
  t.equal(machine.run("systemd-sysext", "unmerge").status, 0);
  appendFileSync(machine.at("/run/extensions/host-local/usr/bin/host-local"), "2");
  t.equal(machine.run("systemd-sysext", "merge").status, 0);
  tick();
  t.equal(readFileSync(machine.at(PLUGIN)).length, installed.length + 1, "an upgrade reaches it");
  for (const name of ["gc", "install", "metrics"]) {
    t.match(read(`host-local-${name}.service`), `ExecStart=/usr/bin/host-local ${name} `);
  }

  t.equal(machine.run("systemd-sysext", "unmerge").status, 0);
  t.notOk(existsSync(machine.at("/usr/bin/host-local")));
  t.match(machine.run(PLUGIN, "version").said, `host-local v${version}`, "the plugin stays");
});

test("an extension for another architecture is not merged", {
  skip: skip || noForeign,
}, async (t) => {
  const machine = await withExtension(t, fileOf(sysextName({ version }, foreign())));
  const { said } = machine.run("systemd-sysext", "merge");
  t.match(said, /incompatible image|No suitable extensions/);
  t.notOk(existsSync(machine.at("/usr/bin/host-local")));
});

test("a damaged image is recognised", { skip }, async (t) => {
  const image = truncated(t, sysextName({ version }, ownArchive.architecture));
  const directory = join(scratchDirectory(t), "unpacked");
  const { status, stderr } = spawnSync("unsquashfs", ["-dest", directory, image], {
    encoding: "utf8",
  });
  t.not(status, 0);
  t.match(stderr, /FATAL ERROR/);
});

function readIfThere(path: string): Buffer | undefined {
  return existsSync(path) ? readFileSync(path) : undefined;
}
