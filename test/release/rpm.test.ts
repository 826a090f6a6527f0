// test: release, mounts
/** The RPM package beside the distribution's own; units.test.ts installs, upgrades and removes it. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { command } from "../../scripts/build/command.ts";
import { rpmName } from "../../scripts/release/rpm.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { Machine, machineObstacle } from "./machine.ts";
import { fileOf, missing, ownArchive, version } from "./release.ts";

/** The plugin of the distribution's package. */
const STOCK = "/usr/libexec/cni/host-local";
const name = rpmName({ version }, ownArchive.architecture);
const skip = machineObstacle() ?? missing("rpm");

test("it is installed beside the distribution's plugins, replaces one, also after their upgrade", {
  skip,
}, async (t) => {
  const machine = await Machine.open(t);
  // Debian's rpm has its database in the home directory, and knows no package of a shell.
  const rpm = (...words: readonly string[]) =>
    machine.run("rpm", "--dbpath=/var/lib/rpm", ...words);
  const install = (path: string) =>
    rpm("--force-debian", "--nodeps", "--upgrade", machine.take(path));
  const distribution = (release: number) => distributionPackage(t, release);
  const answer = () => machine.run("env", "CNI_COMMAND=VERSION", STOCK).said;
  for (const path of [distribution(1), fileOf(name)]) {
    const { status, said } = install(path);
    t.strictSame({ status, said: said.replace(/^warning: .*\n/gm, "") }, { status: 0, said: "" });
  }
  t.strictSame(rpm("--verify", "--nodeps", "host-local"), { status: 0, said: "" });
  t.match(rpm("--query", "--file", STOCK).said, "containernetworking-plugins");
  t.match(answer(), '"0.9.9"', "the distribution's stays");
  t.equal(install(distribution(2)).status, 0);
  t.match(answer(), '"0.9.9"', "also when it is upgraded");

  const [, command = ""] =
    /host-local (install \S+ --yes);/.exec(rpm("--query", "--info", "host-local").said) ?? [];
  t.equal(machine.run("host-local", ...command.split(" ")).status, 0, command);
  t.match(answer(), '"1.1.0"');
  t.equal(install(distribution(3)).status, 0);
  t.match(answer(), '"1.1.0"', "the upgrade of the other package does not take it away");

  const words = ["install", "/usr/libexec/cni", "--uninstall", "--yes", "--force"];
  const back = machine.run("host-local", ...words);
  t.equal(back.status, 0, back.said);
  t.match(answer(), '"0.9.9"');
});

/** A package with a plugin of the same name, like Fedora's. */
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
