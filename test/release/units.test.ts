// test: release, mounts
/** The units of the packages on a machine that systemd has started: only enabled units run, and none outlives its package. */

import { existsSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { debName, writeDeb } from "../../scripts/release/deb.ts";
import { UNITS_TO_ENABLE } from "../../scripts/release/package.ts";
import { rpmName, writeRpm } from "../../scripts/release/rpm.ts";
import { until } from "../harness/until.ts";
import { type Ended, Machine, machineObstacle } from "./machine.ts";
import { fileOf, missing, ownArchive, packageOfVersion, version } from "./release.ts";

const AGENT = "host-local-agent.service";
const ENABLED = [AGENT, "host-local-gc.timer"];

/** A package manager. */
interface Manager {
  readonly programs: readonly string[];
  readonly release: string;
  readonly write: typeof writeDeb;
  readonly install: readonly string[];
  /** The directory of the textfile collector. */
  readonly metrics: string;
  /** The commands that remove the package, one after another. */
  readonly removals: readonly (readonly string[])[];
}

const rpm = ["rpm", "--dbpath=/var/lib/rpm", "--force-debian", "--nodeps"];
const managers: Readonly<Record<string, Manager>> = {
  ".deb": {
    programs: ["dpkg", "deb-systemd-helper"],
    release: debName({ version }, ownArchive.architecture),
    write: writeDeb,
    install: ["dpkg", "--no-triggers", "--install"],
    metrics: "/var/lib/prometheus/node-exporter",
    removals: ["--remove", "--purge"].map((word) => ["dpkg", word, "host-local"]),
  },
  ".rpm": {
    programs: ["rpm"],
    release: rpmName({ version }, ownArchive.architecture),
    write: writeRpm,
    install: [...rpm, "--upgrade"],
    metrics: "/var/lib/node_exporter/textfile_collector",
    removals: [[...rpm, "--erase", "host-local"]],
  },
};

for (const [what, { programs, release, write, install, metrics, removals }] of Object.entries(
  managers,
)) {
  test(`the units of the ${what} on a machine that runs`, {
    skip: machineObstacle() ?? missing(...programs),
  }, async (t) => {
    const machine = await Machine.open(t);
    const run = (...words: readonly string[]): Ended => {
      const ended = machine.run(...words);
      t.equal(ended.status, 0, `${words.join(" ")}: ${ended.said}`);
      return ended;
    };
    const stateOf = (verb: string, units = UNITS_TO_ENABLE): readonly string[] =>
      machine
        .run("systemctl", verb, ...units)
        .said.trim()
        .split("\n");
    const offs = (word: string): readonly string[] => UNITS_TO_ENABLE.map(() => word);
    const programOfAgent = (): string => {
      const { said } = machine.run("systemctl", "show", "--property=MainPID", "--value", AGENT);
      return readlinkSync(machine.at(join("/proc", said.trim(), "exe")));
    };
    const agentRuns = () =>
      until("the agent runs from its file", () => programOfAgent() === "/usr/sbin/host-local", 20);

    // The package is installed before the first start, as in an image: the preset file decides what that start enables.
    run(...install, machine.take(fileOf(release)));
    await machine.start();
    t.same(stateOf("is-enabled"), offs("disabled"), "the first start enables none");
    t.same(stateOf("is-active"), offs("inactive"));
    run("systemctl", "preset-all");
    t.same(stateOf("is-enabled"), offs("disabled"), "nor does an administrator by preset-all");

    // The directory belongs to node_exporter, which is another user.
    run("install", "--directory", "--owner=65534", metrics);
    run("systemctl", "start", "host-local-metrics.service");
    t.equal(statSync(machine.at(`${metrics}/cni-ipam.prom`)).mode & 0o777, 0o644);

    // The directory /opt/cni/bin does not exist yet.
    run("systemctl", "start", "host-local-install.service");
    run("systemctl", "enable", "--now", ...ENABLED);
    await agentRuns();
    run(...install, machine.take(write(packageOfVersion(t, "99.0.0"))));
    t.same(stateOf("is-active", ENABLED), ["active", "active"], "an upgrade leaves on what was on");
    t.same(stateOf("is-enabled", ENABLED), ["enabled", "enabled"]);
    await agentRuns();
    const others = UNITS_TO_ENABLE.filter((unit) => !ENABLED.includes(unit));
    t.same(
      stateOf("is-active", others),
      others.map(() => "inactive"),
      "and off what was off",
    );

    for (const words of removals) {
      run(...words);
      t.same(stateOf("is-active"), offs("inactive"), "a removal stops them");
      t.notOk(existsSync(machine.at("/usr/sbin/host-local")));
    }
    const known = machine.run("systemctl", "list-unit-files", "--no-legend", "host-local-*").said;
    t.equal(known, "", "systemd knows none any more");
    const links = readdirSync(machine.at("/etc/systemd/system"), { recursive: true });
    t.same(
      links.filter((path) => `${path}`.includes("host-local")),
      [],
      "no link is left",
    );
  });
}
