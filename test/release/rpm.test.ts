// test: release
/** The RPM package is installed, upgraded and removed. */

import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { command } from "../../scripts/build/command.ts";
import { rpmName, writeRpm } from "../../scripts/release/rpm.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { mountObstacle } from "../harness/mounts.ts";
import { Machine } from "./machine.ts";
import { fileOf, missing, ownArchive, packageOfVersion, version } from "./release.ts";

/** That of the distribution's package, and ours. */
const STOCK = "/usr/libexec/cni/host-local";
const PLUGIN = "/usr/libexec/host-local/host-local";
const name = rpmName({ version }, ownArchive.architecture);
const skip = mountObstacle() ?? missing("rpm");

/** A machine, and what rpm does there: Debian's has its database in the home directory, and no package of a shell. */
async function withRpm(t: Test) {
  const machine = await Machine.open(t);
  const rpm = (...words: readonly string[]) =>
    machine.run("rpm", "--dbpath=/var/lib/rpm", ...words);
  const install = (...words: readonly string[]) => rpm("--force-debian", "--nodeps", ...words);
  return { machine, rpm, install };
}

test("the package is installed, upgraded and removed", { skip }, async (t) => {
  const { machine, rpm, install } = await withRpm(t);

  const installed = install("--install", fileOf(name));
  t.equal(installed.status, 0, installed.said);
  for (const path of [PLUGIN, "/usr/sbin/host-local"]) {
    t.equal(machine.run(path, "version").said.split("\n")[0], `host-local v${version}`);
  }
  t.strictSame(rpm("--verify", "--nodeps", "host-local"), { status: 0, said: "" });
  t.match(rpm("--query", "--docfiles", "host-local").said, "/usr/share/man/man8/host-local.8.gz");
  t.match(rpm("--query", "--licensefiles", "host-local").said, "/LICENSE");

  const again = install("--install", fileOf(name));
  t.not(again.status, 0);
  t.match(again.said, "is already installed");

  const upgraded = install("--upgrade", writeRpm(packageOfVersion(t, "99.0.0")));
  t.equal(upgraded.status, 0, upgraded.said);
  t.match(rpm("--query", "host-local").said, "host-local-99.0.0-1.");

  const removed = install("--erase", "host-local");
  t.equal(removed.status, 0, removed.said);
  for (const path of [PLUGIN, "/usr/share/doc/host-local"]) {
    t.notOk(existsSync(machine.at(path)), path);
  }
});

test("it is installed beside the distribution's plugins, replaces one by hand, and is put back after their upgrade", {
  skip,
}, async (t) => {
  const { machine, rpm, install } = await withRpm(t);
  const distribution = (release: number) => distributionPackage(t, release);
  const answer = () => machine.run("env", "CNI_COMMAND=VERSION", STOCK).said;
  for (const path of [distribution(1), fileOf(name)]) {
    const { status, said } = install("--install", path);
    t.strictSame({ status, said: said.replace(/^warning: .*\n/gm, "") }, { status: 0, said: "" });
  }
  t.match(rpm("--query", "--file", STOCK).said, "containernetworking-plugins");
  t.match(answer(), '"0.9.9"', "the distribution's stays");
  t.equal(install("--upgrade", distribution(2)).status, 0);
  t.match(answer(), '"0.9.9"', "also when it is upgraded");

  const [, command = ""] =
    /host-local (install \S+ --yes);/.exec(rpm("--query", "--info", "host-local").said) ?? [];
  t.equal(machine.run("host-local", ...command.split(" ")).status, 0, command);
  t.match(answer(), '"1.1.0"');
  t.equal(install("--upgrade", distribution(3)).status, 0);
  t.match(answer(), '"1.1.0"', "the upgrade of the other package does not take it away");

  const words = ["install", "/usr/libexec/cni", "--uninstall", "--yes", "--force"];
  const back = machine.run("host-local", ...words);
  t.equal(back.status, 0, back.said);
  t.match(answer(), '"0.9.9"');
});

/** A package with a plugin of the same name, as Fedora has one. */
function distributionPackage(t: Pick<Test, "teardown">, release: number): string {
  const directory = scratchDirectory(t);
  const spec = join(directory, "plugins.spec");
  writeFileSync(
    spec,
    `Name: containernetworking-plugins
Version: 1.0.0
Release: ${release}
Summary: Plugins
License: Apache-2.0
AutoReqProv: no
%description
Plugins.
%install
mkdir -p %{buildroot}/usr/libexec/cni
echo '#!/bin/sh' > %{buildroot}${STOCK}
echo 'echo "{\\"cniVersion\\":\\"0.9.9\\",\\"supportedVersions\\":[\\"1.0.0\\"]}" # ${release}' >> %{buildroot}${STOCK}
%files
%attr(0755,root,root) ${STOCK}
`,
  );
  const definitions = [`_topdir ${directory}`, `_dbpath ${directory}/db`, "_rpmfilename made.rpm"];
  command([
    ...["rpmbuild", "-bb", "--quiet"],
    ...definitions.flatMap((definition) => ["--define", definition]),
    spec,
  ]);
  return join(directory, "RPMS", "made.rpm");
}

test("the metrics are written where node_exporter's own unit reads them", { skip }, async (t) => {
  const { machine, install } = await withRpm(t);
  t.equal(install("--install", fileOf(name)).status, 0);
  const unit = readFileSync(
    machine.at("/usr/lib/systemd/system/host-local-metrics.service"),
    "utf8",
  );
  const [, directory = ""] = /^Environment=METRICS_DIRECTORY=(.+)$/m.exec(unit) ?? [];
  t.equal(directory, "/var/lib/node_exporter/textfile_collector");
  t.match(unit, new RegExp(`^ReadWritePaths=.*-${directory}( |$)`, "m"));
  // Of its user, who is another.
  machine.run("install", "--directory", "--owner=65534", directory);
  const [, start = ""] = /^ExecStart=(.+)$/m.exec(unit) ?? [];
  const metrics = `export METRICS_DIRECTORY=${directory}; umask 22; ${start}`;
  const { status, said } = machine.run("sh", "-c", metrics);
  t.equal(status, 0, said);
  const written = machine.at(`${directory}/cni-ipam.prom`);
  t.equal(statSync(written).mode & 0o777, 0o644);
});
