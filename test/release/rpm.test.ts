// test: release
/** The RPM package is installed, upgraded and removed. */

import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { command } from "../../scripts/release/command.ts";
import { rpmName, writeRpm } from "../../scripts/release/rpm.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { mountObstacle } from "../harness/mounts.ts";
import { Machine } from "./machine.ts";
import {
  fileOf,
  foreign,
  missing,
  noForeign,
  ownArchive,
  packageOfVersion,
  truncated,
  version,
} from "./release.ts";

const PLUGIN = "/usr/libexec/cni/host-local";
const name = rpmName({ version }, ownArchive.architecture);
const skip = mountObstacle() ?? missing("rpm");

/** A machine, and what rpm does there: Debian's has its database in the home directory, and no package of a shell. */
async function withRpm(t: Test, usr?: string) {
  const machine = await Machine.open(t, usr);
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

test("the timers are off until they are enabled", {
  skip: skip || missing("systemctl"),
}, async (t) => {
  const { machine, install } = await withRpm(t);
  t.equal(install("--install", fileOf(name)).status, 0);
  const timers = ["host-local-gc.timer", "host-local-metrics.timer"];
  t.equal(
    machine.run("systemctl", "--root=/", "is-enabled", ...timers).said,
    "disabled\ndisabled\n",
  );
});

/** A package that cannot be installed, what rpm says, and why that cannot be tested. */
const refused: readonly [string, (t: Test) => string, RegExp, (string | false)?][] = [
  ["a damaged package is refused", (t) => truncated(t, name), /BAD|error|fail/i],
  [
    "a package for another architecture is refused",
    () => fileOf(rpmName({ version }, foreign())),
    /is intended for a different architecture/,
    noForeign,
  ],
];

for (const [what, make, expected, obstacle] of refused) {
  test(`${what}, and nothing is installed`, { skip: skip || obstacle || false }, async (t) => {
    await expectRefusal(t, make(t), expected);
  });
}

test("beside a package with the same file rpm refuses to install it, and that file stays", {
  skip,
}, async (t) => {
  const { machine, rpm, install } = await withRpm(t);
  const other = install("--install", distributionPackage(t));
  t.equal(other.status, 0, other.said);

  const { status, said } = install("--install", fileOf(name));

  t.not(status, 0);
  t.match(said, `file ${PLUGIN} from install of host-local-`);
  t.match(said, "conflicts with file from package containernetworking-plugins-1.0.0-1.");
  t.match(rpm("--query", "host-local").said, "is not installed");
  t.equal(readFileSync(machine.at(PLUGIN), "utf8"), "the distribution's\n");
  t.notOk(existsSync(machine.at("/usr/sbin/host-local")));
});

/** A package with a plugin of the same name, as Fedora has one. */
function distributionPackage(t: Pick<Test, "teardown">): string {
  const directory = scratchDirectory(t);
  const spec = join(directory, "plugins.spec");
  writeFileSync(
    spec,
    `Name: containernetworking-plugins
Version: 1.0.0
Release: 1
Summary: Plugins
License: Apache-2.0
%description
Plugins.
%install
mkdir -p %{buildroot}/usr/libexec/cni
echo "the distribution's" > %{buildroot}${PLUGIN}
%files
%attr(0755,root,root) ${PLUGIN}
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

test("on a full disk, rpm says so, and nothing is installed", { skip }, async (t) => {
  const usr = `${statSync(fileOf(name)).size}`;
  await expectRefusal(t, fileOf(name), /No space left on device|needs \d+\w* more space/, usr);
});

async function expectRefusal(t: Test, path: string, expected: RegExp, usr?: string): Promise<void> {
  const { machine, rpm, install } = await withRpm(t, usr);
  const { status, said } = install("--install", path);
  t.not(status, 0);
  t.match(said, expected);
  t.notOk(existsSync(machine.at(PLUGIN)));
  t.match(rpm("--query", "host-local").said, "is not installed");
}
