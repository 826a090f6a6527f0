// test: release
/** The system extension is merged into /usr, and installs the plugin in /opt/cni/bin. */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
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
  const upholds = readFileSync(join(directory, "multi-user.target.d/10-host-local.conf"), "utf8");
  t.match(upholds, "Upholds=host-local-install.service");
  const unit = readFileSync(join(directory, "host-local-install.service"), "utf8");
  t.match(unit, "\nRestart=on-failure\nRestartSec=1min\n", "a failure is not repeated at once");
  t.match(machine.run("systemd-analyze", "verify", "host-local-install.service"), {
    status: 0,
    said: "",
  });
  // As systemd runs it at each start of the machine.
  for (let starts = 0; starts < 2; starts++) {
    for (const [, command = ""] of unit.matchAll(/^Exec\w+=(.+)$/gm)) {
      const { status, said } = machine.run(...command.split(" "));
      t.equal(status, 0, said);
    }
  }
  for (const name of ["gc", "metrics"]) {
    const service = readFileSync(join(directory, `host-local-${name}.service`), "utf8");
    t.match(service, `ExecStart=/usr/bin/host-local ${name} `);
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

test("a damaged image is recognised", { skip }, (t) => {
  const image = truncated(t, sysextName({ version }, ownArchive.architecture));
  const directory = join(scratchDirectory(t), "unpacked");
  const { status, stderr } = spawnSync("unsquashfs", ["-dest", directory, image], {
    encoding: "utf8",
  });
  t.not(status, 0);
  t.match(stderr, /FATAL ERROR/);
  t.end();
});
