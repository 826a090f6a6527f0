/** What the machine offers to scenarios: main plugins, programs, and namespaces of their own. */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { inRepository, run } from "../blackbox/executable.ts";
import { versionCall } from "../blackbox/runtime-call.ts";

/** What a scenario needs of the machine. */
export interface Needs {
  /** The main plugins that it uses. */
  readonly plugins: readonly string[];
  /** The specification version that these must speak. */
  readonly cniVersion: string;
  /** Programs beyond those that every scenario uses. */
  readonly programs?: readonly string[];
}

/** The arguments of `unshare` under which every scenario runs. */
export const namespaces: readonly string[] = [
  ...["--net", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child", "--mount-proc"],
  ...["--propagation", "private"],
];

/** Debian's package, and the newer one that `npm run fetch-go-plugins` unpacks. */
const pluginDirectories = ["/usr/lib/cni", inRepository("build/go-plugins/usr/lib/cni")];

/** What every scenario mounts, tried beforehand: some containers have namespaces but no mounts. */
const trialMounts = [
  "mount -t tmpfs tmpfs /run",
  "mkdir /run/upper /run/work",
  "mount -t overlay -o lowerdir=/opt,upperdir=/run/upper,workdir=/run/work overlay /opt",
];

/** What a main plugin asks of the kernel, which need not know every kind of interface. */
const trialLinks: Readonly<Record<string, readonly string[]>> = {
  bridge: ["ip link add bridge0 type bridge"],
  ptp: ["ip link add ptp0 type veth peer name ptp1"],
  macvlan: [
    "ip link add card0 type veth peer name card1",
    "ip link add macvlan0 link card0 type macvlan",
  ],
};

/**
 * Finds the main plugins that a scenario needs.
 *
 * @param needs what it needs
 * @returns their directory, or undefined where there is none
 */
export function mainPlugins({ plugins, cniVersion }: Needs): string | undefined {
  return pluginDirectories.find((directory) =>
    plugins.every((plugin) => speaks(join(directory, plugin), cniVersion)),
  );
}

/**
 * Says in a plain sentence why a scenario cannot run here.
 *
 * @param needs what the scenario needs
 * @returns the sentence, or undefined where it can run
 */
export function obstacle(needs: Needs): string | undefined {
  const { plugins, cniVersion, programs = [] } = needs;
  if (process.getuid?.() !== 0) {
    return "Network namespaces need root.";
  }
  const missing = ["unshare", "mount", "ip", "ping", ...programs].find(
    (name) => !isInstalled(name),
  );
  if (missing !== undefined) {
    return `The program ${missing} is not installed.`;
  }
  if (mainPlugins(needs) === undefined) {
    return `The CNI plugins here have no ${plugins.join(" and ")} for version ${cniVersion}.`;
  }
  const trial = [...trialMounts, ...plugins.flatMap((plugin) => trialLinks[plugin] ?? [])];
  const command = [...namespaces, "sh", "-c", trial.join(" && ")];
  const { status, stderr } = spawnSync("unshare", command, { encoding: "utf8" });
  return status === 0 ? undefined : `This machine does not let it be isolated: ${stderr.trim()}`;
}

function isInstalled(program: string): boolean {
  const { PATH = "" } = process.env;
  const directories = [...PATH.split(delimiter), inRepository("build")];
  return directories.some((directory) => existsSync(join(directory, program)));
}

function speaks(plugin: string, cniVersion: string): boolean {
  return existsSync(plugin) && run(plugin, versionCall()).stdout.includes(`"${cniVersion}"`);
}
