/** The machine's offer to scenarios: main plugins, programs, and namespaces of their own. */

import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { run } from "../harness/executable.ts";
import { lacking } from "../harness/needs.ts";
import { inRepository } from "../harness/repository.ts";
import { versionCall } from "../harness/runtime-call.ts";

/** The needs of a scenario. */
export interface Needs {
  /** The main plugins that it uses. */
  readonly plugins: readonly string[];
  /** The specification version that the main plugins must speak. */
  readonly cniVersion: string;
  /** Programs beyond those that every scenario uses. */
  readonly programs?: readonly string[];
  /** The layers of `npm run fetch -- clients` that it lays over /usr; such a scenario runs containers. */
  readonly layers?: readonly string[];
  /** Programs that Debian does not have, given by an option of `npm run test:clients`. */
  readonly given?: readonly { readonly option: string; readonly path: string }[];
  /** The age of the main plugins: the oldest here that meet the needs, or the newest. */
  readonly age?: "oldest" | "newest";
  /** Whether it sees the machine's processes, without a PID namespace of its own, in which GC releases nothing. */
  readonly seesProcesses?: boolean;
}

const withoutProcesses: readonly string[] = [
  ...["--net", "--mount", "--ipc", "--uts", "--fork", "--kill-child", "--propagation", "private"],
];

/** The arguments of `unshare` for every scenario that does not have to see the processes of the machine. */
export const namespaces: readonly string[] = [...withoutProcesses, "--pid", "--mount-proc"];

/** The arguments of `unshare` for a scenario. */
export function namespacesFor({ seesProcesses = false }: Needs): readonly string[] {
  return seesProcesses ? withoutProcesses : namespaces;
}

/** The directories of main plugins: Debian's package, and the newer one that `npm run fetch -- go-plugins` unpacks. */
const pluginDirectories = ["/usr/lib/cni", inRepository("build/go-plugins/usr/lib/cni")];

/** The directory into which `npm run fetch -- clients` unpacks the layers. */
const layerDirectory = inRepository("build/clients");

/** Whether scenarios get another kernel if they need it, in which they take half a minute each. */
const usesUserModeLinux = process.env.HOST_LOCAL_USER_MODE_LINUX !== undefined;

/** The mounts of every scenario, tried beforehand: some containers have namespaces but cannot mount. */
const trialMounts = [
  "mount -t tmpfs tmpfs /run",
  "mkdir /run/upper /run/work",
  "mount -t overlay -o lowerdir=/opt,upperdir=/run/upper,workdir=/run/work overlay /opt",
];

/** The interfaces that main plugins need; a kernel need not know every kind. */
const trialLinks: Readonly<Record<string, readonly string[]>> = {
  bridge: ["ip link add bridge0 type bridge"],
  ptp: ["ip link add ptp0 type veth peer name ptp1"],
  macvlan: [
    "ip link add card0 type veth peer name card1",
    "ip link add macvlan0 link card0 type macvlan",
  ],
  ipvlan: [
    "ip link add card2 type veth peer name card3",
    "ip link add ipvlan0 link card2 type ipvlan",
  ],
  vlan: [
    "ip link add card4 type veth peer name card5",
    "ip link add vlan0 link card4 type vlan id 7",
  ],
  dummy: ["ip link add dummy0 type dummy"],
  tap: ["ip tuntap add tap0 mode tap"],
};

/** A cgroup that is made to see whether runtimes can make those of containers. */
const trialCgroup = "host-local-test-trial";

/**
 * Finds the main plugins that a scenario needs.
 *
 * @param needs the scenario's needs
 * @returns their directory, or undefined if there is none
 */
export function mainPlugins({ plugins, cniVersion, age = "oldest" }: Needs): string | undefined {
  const inOrder = age === "oldest" ? pluginDirectories : pluginDirectories.toReversed();
  return inOrder.find((directory) =>
    plugins.every((plugin) => speaks(join(directory, plugin), cniVersion)),
  );
}

/**
 * Says in a plain sentence why a scenario cannot run here.
 *
 * @param needs what the scenario needs
 * @returns the sentence, or undefined if it can run
 */
export function obstacle(needs: Needs): string | undefined {
  const { plugins, cniVersion, programs = [], layers = [] } = needs;
  const missing = ["unshare", "nsenter", "mount", "ip", "ping", ...programs].find(
    (name) => !isInstalled(name),
  );
  if (missing !== undefined) {
    return `The program ${missing} is not installed.`;
  }
  if (mainPlugins(needs) === undefined) {
    return `The CNI plugins here have no ${plugins.join(" and ")} for version ${cniVersion}.`;
  }
  const absent = layers.find((layer) => !existsSync(layerPath(layer)));
  if (absent !== undefined) {
    return `${absent} is not below build/clients: \`npm run fetch -- clients\` fetches it.`;
  }
  const notGiven = needs.given?.find(({ path }) => !existsSync(path));
  if (notGiven !== undefined) {
    return `It takes a program that Debian does not have: \`npm run test:clients -- ${notGiven.option} PATH\`.`;
  }
  if (layers.length > 0 && !makesCgroups()) {
    return "Containers need cgroups, which cannot be made here.";
  }
  const lack =
    lacking("makes namespaces", "mounts") ||
    (needs.seesProcesses === true && lacking("sees the node"));
  if (lack !== false) return lack;
  const refusal = refusalOf(trialMounts);
  if (refusal !== undefined) return `This machine does not let it be isolated: ${refusal}`;
  const unknown = plugins.find(isUnknownHere);
  if (unknown === undefined || usesUserModeLinux) return undefined;
  return `The kernel here does not make the interfaces of ${unknown}; \`npm run test:clients\` uses user-mode Linux for it.`;
}

/**
 * The words before a command that give it a kernel which makes the interfaces of the main plugins; none if this machine's
 * kernel makes them.
 *
 * @param needs what the scenario needs
 */
export function kernelFor({ plugins }: Needs): readonly string[] {
  const program = inRepository("test/e2e/user-mode-linux.sh");
  return plugins.some(isUnknownHere) ? ["bash", program, layerDirectory] : [];
}

/** The answers of {@link isUnknownHere} so far. */
const unknownHere = new Map<string, boolean>();

function isUnknownHere(plugin: string): boolean {
  const known = unknownHere.get(plugin);
  if (known !== undefined) return known;
  const isUnknown = refusalOf(trialLinks[plugin] ?? []) !== undefined;
  unknownHere.set(plugin, isUnknown);
  return isUnknown;
}

/** The output of commands in namespaces of their own, if one of them fails. */
function refusalOf(commands: readonly string[]): string | undefined {
  if (commands.length === 0) return undefined;
  const command = [...namespaces, "sh", "-c", commands.join(" && ")];
  const { status, stderr } = spawnSync("unshare", command, { encoding: "utf8" });
  return status === 0 ? undefined : stderr.trim();
}

/**
 * The path of a layer of `npm run fetch -- clients`.
 *
 * @param layer its name
 */
export function layerPath(layer: string): string {
  return join(layerDirectory, layer);
}

/**
 * Makes a cgroup in every hierarchy, with all processors and memory of the machine.
 *
 * @param name its name, below the root
 */
export function makeCgroup(name: string): void {
  for (const hierarchy of cgroupHierarchies()) {
    const directory = join(hierarchy, name);
    mkdirSync(directory, { recursive: true });
    // In version 1 a new cgroup has no processors and no memory.
    for (const file of ["cpuset.cpus", "cpuset.mems"]) {
      if (existsSync(join(directory, file))) {
        writeFileSync(join(directory, file), readFileSync(join(hierarchy, file)));
      }
    }
  }
}

/** How long to wait for the end of the last process in a cgroup, in milliseconds. */
const LONGEST_END = 10_000;

/**
 * Removes a cgroup and those below it from every hierarchy, once the processes in it have ended.
 *
 * @param name its name, below the root
 */
export function removeCgroup(name: string): void {
  const deadline = Date.now() + LONGEST_END;
  const directories = cgroupHierarchies().map((hierarchy) => join(hierarchy, name));
  while (!directories.every(isRemoved) && Date.now() < deadline) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  }
}

/**
 * The ids of the processes in a cgroup and those below it.
 *
 * @param name its name, below the root
 */
export function processesIn(name: string): readonly number[] {
  const directories = cgroupHierarchies().flatMap((hierarchy) =>
    directoriesBelow(join(hierarchy, name)),
  );
  const ids = directories.flatMap(
    (directory) => readFileSync(join(directory, "cgroup.procs"), "utf8").match(/\d+/g) ?? [],
  );
  return [...new Set(ids)].map(Number);
}

/**
 * Unmounts everything below directories, and removes the directories.
 *
 * @param directories their paths
 */
export function removeMounts(directories: readonly string[]): void {
  const mounted = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[1] ?? "")
    .filter((path) => directories.some((directory) => path.startsWith(`${directory}/`)));
  // A mount of the machine's own that another one covers cannot be reached, and need not be.
  for (const path of mounted.toReversed()) spawnSync("umount", [path]);
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
}

function isRemoved(directory: string): boolean {
  try {
    for (const path of directoriesBelow(directory).toReversed()) rmdirSync(path);
    return true;
  } catch {
    return false;
  }
}

function makesCgroups(): boolean {
  const hierarchies = cgroupHierarchies();
  try {
    for (const hierarchy of hierarchies)
      mkdirSync(join(hierarchy, trialCgroup), { recursive: true });
    return hierarchies.length > 0;
  } catch {
    return false;
  } finally {
    removeCgroup(trialCgroup);
  }
}

/** The directories on which a cgroup file system is mounted. */
function cgroupHierarchies(): readonly string[] {
  return readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([, , type = ""]) => /^cgroup2?$/.test(type))
    .map(([, directory = ""]) => directory);
}

/** A directory and those below it, each before its own directories; none if it does not exist. */
function directoriesBelow(directory: string): readonly string[] {
  if (!existsSync(directory)) return [];
  const inside = readdirSync(directory, { withFileTypes: true });
  const below = inside
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => directoriesBelow(join(directory, name)));
  return [directory, ...below];
}

function isInstalled(program: string): boolean {
  const { PATH = "" } = process.env;
  const directories = [...PATH.split(delimiter), inRepository("build")];
  return directories.some((directory) => existsSync(join(directory, program)));
}

function speaks(plugin: string, cniVersion: string): boolean {
  return existsSync(plugin) && run(plugin, versionCall()).stdout.includes(`"${cniVersion}"`);
}
