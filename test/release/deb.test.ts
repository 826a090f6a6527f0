// test: release, mounts
/** The package for Debian is installed, upgraded and removed beside the distribution's own plugins. */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { checksum } from "../../scripts/release/checksum.ts";
import { debName, writeDeb } from "../../scripts/release/deb.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { Machine, machineObstacle } from "./machine.ts";
import { fileOf, missing, ownArchive, packageOfVersion, version } from "./release.ts";

const PLUGIN = "/usr/lib/cni/host-local";
const DIVERTED = `${PLUGIN}.distrib`;
const name = debName({ version }, ownArchive.architecture);

const owner = spawnSync("dpkg", ["--search", PLUGIN], { encoding: "utf8" }).stdout ?? "";
const skip =
  machineObstacle() ??
  (!owner.startsWith("containernetworking-plugins:") &&
    "Debian's containernetworking-plugins is not installed.");

/** A machine with the stock plugin only, and the calls of dpkg there. */
async function withStockPlugin(t: Test, usr?: string) {
  const machine = await Machine.open(t, usr);
  return {
    machine,
    dpkg: (...words: readonly string[]) => machine.run("dpkg", "--no-triggers", ...words),
    install: (path: string) =>
      machine.run("dpkg", "--no-triggers", "--install", machine.take(path)),
    sumOf: (path: string) => checksum("sha256", machine.at(path)),
  };
}

test("lintian finds no error in the package", { skip: missing("lintian") }, async (t) => {
  const words = ["--allow-root", "--fail-on", "error,warning", fileOf(name)];
  const { status, stdout } = spawnSync("lintian", words, { encoding: "utf8" });
  t.equal(status, 0, stdout);
});

test("the package takes the place of the stock plugin, and gives it back", { skip }, async (t) => {
  const { machine, dpkg, install, sumOf } = await withStockPlugin(t);
  const stock = sumOf(PLUGIN);
  const reservation = machine.at("/var/lib/cni/networks/packaged/198.51.100.2");
  mkdirSync(join(reservation, ".."), { recursive: true });
  writeFileSync(reservation, "container\r\neth0");

  const installed = install(fileOf(name));
  t.equal(installed.status, 0, installed.said);
  for (const path of [PLUGIN, "/usr/sbin/host-local"]) {
    t.equal(machine.run(path, "version").said.split("\n")[0], `host-local v${version}`);
  }
  t.equal(sumOf(DIVERTED), stock, "the stock plugin is kept");
  t.equal(machine.run("dpkg", "--verify", "host-local").said, "");
  for (const path of [
    "man/man8/host-local.8.gz",
    "bash-completion/completions/host-local",
    "zsh/vendor-completions/_host-local",
    "fish/vendor_completions.d/host-local.fish",
    "doc/host-local/copyright",
    "doc/host-local/examples/bridge.conflist",
  ]) {
    t.ok(existsSync(machine.at(`/usr/share/${path}`)), path);
  }

  for (const move of [[], ["--uninstall", "--force"]]) {
    const words = ["install", "/usr/lib/cni", ...move, "--yes"];
    const { status, said } = machine.run("/usr/sbin/host-local", ...words);
    t.equal(status, 2, "the package's own plugin is left to the package");
    t.match(said, "dpkg --remove host-local");
  }
  const repair = ["install", "/usr/lib/cni", "--if-replaced", "--yes"];
  t.equal(machine.run("/usr/sbin/host-local", ...repair).status, 0);
  t.notOk(existsSync(machine.at(`${PLUGIN}.installed`)), "there is nothing to repair");

  const again = install(fileOf(name));
  t.equal(again.status, 0, again.said);
  t.equal(sumOf(DIVERTED), stock, "also after a second installation");

  const upgraded = install(writeDeb(packageOfVersion(t, "99.0.0")));
  t.equal(upgraded.status, 0, upgraded.said);
  t.match(machine.run("dpkg-query", "-W", "host-local").said, "99.0.0-1");
  t.equal(sumOf(DIVERTED), stock, "also after an upgrade");

  t.equal(dpkg("--remove", "host-local").status, 0);
  t.equal(sumOf(PLUGIN), stock, "the stock plugin is back");
  t.equal(machine.run("dpkg-divert", "--list", "*host-local*").said, "");
  const kept = "/run/host-local/failed-calls";
  t.equal(machine.run("install", "-D", "/dev/null", kept).status, 0);
  const purged = dpkg("--purge", "host-local");
  t.equal(purged.status, 0, purged.said);
  t.not(machine.run("test", "-e", kept).status, 0, "nor what failed");
  t.match(machine.run("dpkg-query", "-W", "host-local").said, "no packages found");
  t.notOk(existsSync(machine.at("/usr/sbin/host-local")));
  t.equal(readFileSync(reservation, "utf8"), "container\r\neth0", "reservations stay");
});

test("an upgrade of the stock package leaves the plugin, and is what comes back", {
  skip,
}, async (t) => {
  const { machine, dpkg, install, sumOf } = await withStockPlugin(t);
  t.equal(install(fileOf(name)).status, 0);
  const ours = sumOf(PLUGIN);

  const next = '#!/bin/sh\necho \'{"supportedVersions":["1.1.0"]}\'\n';
  const { status, said } = install(stockPackage(t, next));
  t.equal(status, 0, said);
  t.equal(sumOf(PLUGIN), ours);
  t.equal(dpkg("--purge", "host-local").status, 0);
  t.ok(readFileSync(machine.at(PLUGIN)).equals(Buffer.from(next)));
});

/**
 * The cases in which a removal is refused: the reason, the node's configuration, dpkg's message, and whether the stock plugin
 * is installed.
 */
const stays: readonly [string, object, RegExp, boolean][] = [
  [
    "the stock plugin would break a network",
    { exclude: ["198.51.100.9"] },
    /\(network mynet\) has exclude: /,
    true,
  ],
  [
    "no plugin would be left and a configuration names it",
    {},
    /\(network mynet\) names host-local, and there is no other to restore/,
    false,
  ],
];

for (const [when, keys, expected, isStockThere] of stays) {
  test(`the package stays where ${when}, unless that is forced`, { skip }, async (t) => {
    const { machine, dpkg, install } = await withStockPlugin(t);
    t.equal(install(fileOf(name)).status, 0);
    if (!isStockThere) t.equal(machine.run("rm", DIVERTED).status, 0);
    mkdirSync(machine.at("/etc/cni/net.d"), { recursive: true });
    const ipam = { type: "host-local", subnet: "198.51.100.0/24", ...keys };
    const network = { cniVersion: "1.0.0", name: "mynet", type: "bridge", ipam };
    writeFileSync(machine.at("/etc/cni/net.d/10-mynet.conf"), JSON.stringify(network));
    // A program that an administrator has built is found first in PATH.
    mkdirSync(machine.at("/usr/local/sbin"), { recursive: true });
    writeFileSync(machine.at("/usr/local/sbin/host-local"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });

    const refused = dpkg("--remove", "host-local");
    t.equal(refused.status, 1);
    t.match(refused.said, expected);
    t.equal(machine.run(PLUGIN, "version").said.split("\n")[0], `host-local v${version}`);
    t.notMatch(machine.run("ls", "/run").said, "host-local", "nothing else is left");

    const [, command = ""] = /^To remove .*: (HOST_LOCAL_FORCE=1 .*)$/m.exec(refused.said) ?? [];
    t.equal(machine.run("sh", "-c", command).status, 0);
    t.notOk(existsSync(machine.at("/usr/sbin/host-local")));
  });
}

test("on a full disk the package is refused, and the stock plugin stays", { skip }, async (t) => {
  // There is room to rename the stock plugin, which copies it in an overlay.
  const usr = 1024 * 1024 + statSync(PLUGIN).size;
  const { machine, install, sumOf } = await withStockPlugin(t, `${usr}`);
  const stock = sumOf(PLUGIN);
  const { status, said } = install(fileOf(name));
  // By dpkg(1), 1 means a failure, and 2 one so bad that it stopped.
  t.match(String(status), /^[12]$/);
  t.match(said, /No space left on device/);
  t.equal(sumOf(PLUGIN), stock);
  t.equal(machine.run("dpkg-divert", "--list", "*host-local*").said, "");
  t.notOk(existsSync(machine.at("/usr/sbin/host-local")));
});

/** A later package of the stock plugins, with this one only. */
function stockPackage(t: Test, plugin: string): string {
  const directory = scratchDirectory(t);
  const staging = join(directory, "staging");
  for (const path of ["DEBIAN", "usr/lib/cni"]) {
    mkdirSync(join(staging, path), { recursive: true });
  }
  writeFileSync(join(staging, PLUGIN), plugin, { mode: 0o755 });
  writeFileSync(
    join(staging, "DEBIAN/control"),
    `Package: containernetworking-plugins
Version: 99
Architecture: ${ownArchive.architecture.debian}
Maintainer: Test <test@example.org>
Description: later
`,
  );
  const path = join(directory, "stock.deb");
  spawnSync("dpkg-deb", ["--root-owner-group", "--build", staging, path]);
  return path;
}
