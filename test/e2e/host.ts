/** A host for a scenario: plugins installed, nothing reserved, no route out. */

import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { reservedAddresses } from "../harness/data-directory.ts";
import { executable } from "../harness/executable.ts";
import type { Network } from "./libcni.ts";
import { installShim, type RecordedCall, recordedCalls } from "./recording-shim.ts";
import { Runtime } from "./runtime.ts";

const pluginDirectory = "/opt/cni/bin";
const reservationDirectory = "/var/lib/cni/networks";
const configurationDirectory = "/etc/cni/net.d";
/** The configurations of the machine's own runtimes, which name the directories that they read. */
const configurationsOfRuntimes = [
  ...["/etc/containerd", "/etc/crio"],
  ...["/var/lib/rancher/k3s/agent/etc", "/var/lib/rancher/rke2/agent/etc"],
];
const record = "/run/calls-of-host-local";

/** Shows this network namespace's interfaces in /sys in place of the machine's; the rest of /sys stays, such as cgroups. */
function showOwnInterfaces(): void {
  mkdirSync("/run/sys");
  execFileSync("mount", ["-t", "sysfs", "sysfs", "/run/sys"]);
  for (const directory of ["devices/virtual/net", "class/net"]) {
    execFileSync("mount", ["--bind", `/run/sys/${directory}`, `/sys/${directory}`]);
  }
  execFileSync("umount", ["/run/sys"]);
}

/** The host that a scenario runs on; it is made once, inside the namespaces of the scenario. */
export class Host {
  readonly pluginDirectory = pluginDirectory;
  readonly runtime = new Runtime(pluginDirectory);

  /**
   * Prepares the host.
   *
   * @param mainPlugins the directory of the main plugins, which need not exist
   * @param layers directories whose usr/ is laid over /usr, the first on top
   */
  constructor(mainPlugins: string, layers: readonly string[] = []) {
    execFileSync("ip", ["link", "set", "lo", "up"]);
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", "/run"]);
    mkdirSync("/run/netns");
    // The directory exists, as on a node with failed calls; without it a container of other processes need not see them.
    mkdirSync("/run/host-local", { mode: 0o700 });
    showOwnInterfaces();
    // The host has been up for a day: on a machine that has just started, check looks for no leaks.
    writeFileSync("/run/uptime", "86400.00 86400.00\n");
    execFileSync("mount", ["--bind", "/run/uptime", "/proc/uptime"]);
    for (const directory of ["/etc", "/opt", "/var/lib"]) {
      coverWithMemory(directory);
      // The entries of the machine's own runtimes are not this host's.
      rmSync(join(directory, "cni"), { recursive: true, force: true });
    }
    for (const path of configurationsOfRuntimes) rmSync(path, { recursive: true, force: true });
    if (layers.length > 0) layOverUsr(layers);
    mkdirSync(pluginDirectory, { recursive: true });
    for (const plugin of existsSync(mainPlugins) ? readdirSync(mainPlugins) : []) {
      if (plugin !== "host-local" && plugin !== "static") {
        symlinkSync(join(mainPlugins, plugin), join(pluginDirectory, plugin));
      }
    }
    installShim(join(pluginDirectory, "host-local"), executable, record);
    symlinkSync(executable, join(pluginDirectory, "static"));
  }

  /**
   * The reservations of a network on disk: address to content.
   *
   * @param network the network's name
   */
  reservations(network: string): Record<string, string> {
    const directory = join(reservationDirectory, network);
    return Object.fromEntries(
      reservedAddresses(reservationDirectory, network).map((address) => [
        address,
        readFileSync(join(directory, address), "latin1"),
      ]),
    );
  }

  /** Removes the reservations of a network without the plugin. */
  forget(network: string): void {
    rmSync(join(reservationDirectory, network), { recursive: true, force: true });
  }

  /** Every call of host-local so far, with its input and output. */
  recordedCalls(): RecordedCall[] {
    return recordedCalls(record);
  }

  /** Every call of host-local so far, such as `bridge: ADD pod-1 eth0 /run/netns/pod-1: exit 0`. */
  calls(): string[] {
    return this.recordedCalls().map(({ caller, environment, exitCode }) => {
      const { CNI_COMMAND, CNI_CONTAINERID, CNI_IFNAME, CNI_NETNS } = environment;
      const words = [CNI_COMMAND, CNI_CONTAINERID, CNI_IFNAME, CNI_NETNS].filter((word) => word);
      return `${caller}: ${words.join(" ")}: exit ${exitCode}`;
    });
  }

  /**
   * Gives the host its only network configurations.
   *
   * @param networks the networks, in the order of their files
   */
  configure(...networks: readonly Network[]): void {
    rmSync(configurationDirectory, { recursive: true, force: true });
    mkdirSync(configurationDirectory, { recursive: true });
    for (const [index, network] of networks.entries()) {
      const order = networks.length === 1 ? "" : `${index}-`;
      const file = join(configurationDirectory, `${order}${network.name}.conflist`);
      writeFileSync(file, JSON.stringify(network));
    }
  }

  /**
   * Gives the host a further main plugin.
   *
   * @param name its name
   * @param path the program
   */
  install(name: string, path: string): void {
    symlinkSync(path, join(pluginDirectory, name));
  }

  /**
   * Delays the answer of a main plugin, as one does that waits for duplicate address detection.
   *
   * @param name its name
   * @param gate a file: no answer comes while it exists; beside it, `.busy` exists while the plugin is at work
   */
  hold(name: string, gate: string): void {
    const path = join(pluginDirectory, name);
    const plugin = realpathSync(path);
    rmSync(path);
    const script = `#!/bin/sh
: > '${gate}.busy'
answer=$('${plugin}')
code=$?
while [ -e '${gate}' ]; do sleep 0.05; done
rm -f '${gate}.busy'
printf '%s' "$answer"
exit "$code"
`;
    writeFileSync(path, script, { mode: 0o755 });
  }

  /** The names of the host's network interfaces. */
  interfaces(): string[] {
    return this.#links().map(({ ifname }) => ifname);
  }

  /**
   * Gives the host a network interface whose peer is not connected.
   *
   * @param name the interface's name
   */
  plugInCard(name: string): void {
    execFileSync("ip", ["link", "add", name, "type", "veth", "peer", "name", "cable"]);
    for (const end of [name, "cable"]) execFileSync("ip", ["link", "set", end, "up"]);
  }

  /** Takes away the bridges that networks have left behind. */
  deleteBridges(): void {
    for (const { ifname } of this.#links("type", "bridge")) {
      execFileSync("ip", ["link", "delete", ifname]);
    }
  }

  /** `ip` prints an empty object for a link that the filter leaves out. */
  #links(...filter: readonly string[]): readonly { readonly ifname: string }[] {
    const show = ["-json", "link", "show", ...filter];
    const links: readonly { readonly ifname: string }[] = JSON.parse(
      execFileSync("ip", show, { encoding: "utf8" }),
    );
    return links.filter((link) => "ifname" in link);
  }
}

/** Lays layers over /usr, as if their packages were installed. */
function layOverUsr(layers: readonly string[]): void {
  const directories = [...layers.map((layer) => join(layer, "usr")), "/usr"].join(":");
  execFileSync("mount", ["-t", "overlay", "overlay", "-o", `lowerdir=${directories}`, "/usr"]);
}

/** Covers a directory with memory: later writes below it end with the scenario. */
function coverWithMemory(directory: string): void {
  const layers = join("/run/layers", directory);
  const [upper, work] = ["upper", "work"].map((layer) => join(layers, layer));
  for (const layer of [upper, work]) mkdirSync(layer ?? "", { recursive: true });
  const options = `lowerdir=${directory},upperdir=${upper},workdir=${work}`;
  execFileSync("mount", ["-t", "overlay", "overlay", "-o", options, directory]);
}
