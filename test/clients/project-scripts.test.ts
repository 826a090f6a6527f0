// test: each executable, full extent only, slow
/** The CNI project's own runtime in shell: `priv-net-run.sh`, which calls `exec-plugins.sh`. */

import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, renameSync } from "node:fs";
import { clientScenario, versionIn } from "./client-scenario.ts";
import { networkOf } from "./range-life.ts";

const directory = "/usr/share/cni-scripts";
const configuration = "/etc/cni/net.d";

clientScenario(
  {
    name: "priv-net-run.sh",
    scenario: "a command with a network of its own, again and again, also where the range is full",
    needs: { plugins: ["bridge"], cniVersion: "1.0.0", layers: ["cni-scripts", "jq"] },
    version: () => versionIn(readFileSync(`${directory}/version`, "utf8")),
  },
  async (t, host) => {
    const network = networkOf("10.67.0.0/30");
    host.configure(network);
    renameSync(`${configuration}/${network.name}.conflist`, `${configuration}/clients.conf`);
    const environment = {
      ...{ PATH: process.env.PATH, CNI_PATH: host.pluginDirectory },
      NETCONFPATH: configuration,
    };
    const command = ["ip", "-o", "-4", "address", "show", "dev", "eth0"];
    const runOnce = () =>
      spawnSync("./priv-net-run.sh", command, {
        cwd: directory,
        env: environment,
        encoding: "utf8",
      });

    for (const attempt of ["first", "second"]) {
      const { stdout, stderr, status } = runOnce();
      t.equal(status, 0, `the ${attempt} command runs. ${stderr}`);
      t.match(stdout, "inet 10.67.0.2/30", `the ${attempt} command has the address`);
      t.same(host.reservations(network.name), {}, "its end frees the address");
    }

    execFileSync("ip", ["netns", "add", "other"]);
    const add = ["add", "other", "/run/netns/other"];
    execFileSync("./exec-plugins.sh", add, { cwd: directory, env: environment });
    t.match(
      runOnce().stdout,
      "no IP addresses available in range set: 10.67.0.1-10.67.0.2",
      "a full range is refused in the words of the plugin",
    );
    t.same(Object.values(host.reservations(network.name)), ["other\r\neth0"], "the other keeps it");
  },
);
