/** The RPM package is installed, upgraded and removed. */

import { existsSync, statSync } from "node:fs";
import { type Test, test } from "tap";
import { rpmName, writeRpm } from "../../scripts/release/rpm.ts";
import { mountObstacle } from "../faults/executables/mounts.ts";
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
