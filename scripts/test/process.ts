/** Test files run to their end in a process that prints TAP. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { knownPluginDirectories } from "../../src/operator/configured/plugin-directories.ts";
import { root } from "../build/bundle.ts";
import { needsNoAddresses, wordsOf } from "./files.ts";
import { type FileResult, resultsOf } from "./tap-output.ts";

/** A test file, or the unit tests of a room, that take longer hang; in seconds. */
const LONGEST = 1200;

/**
 * After that time tap says which test it waits for; one that never gives way is killed so much later, in seconds. The longer
 * a file may take, the busier the machine may be.
 */
const graceAfter = (longest: number): number => 3 + longest / 10;

/** How long the output of a killed process is waited for, which another process may hold open; in milliseconds. */
const LAST_WORDS = 1000;

/** Half of a short test's time is the compilation of tap. */
const compileCache = join(root, "build", "compile-cache");

/**
 * What the machine's own runtimes have, which tests must not find; `/usr/lib/cni`, where Debian has the plugins that they
 * use, stays.
 */
const ownDirectories = [
  ...["/etc/cni", "/opt/cni", "/var/lib/cni"],
  ...["/etc/containerd", "/etc/crio", "/var/lib/rancher", "/var/snap/microk8s"],
].concat(
  knownPluginDirectories
    .map(({ directory }) => directory)
    .filter((path) => path !== "/usr/lib/cni"),
);

/** What stands for the machine's own. */
const world = mkdtempSync(join(tmpdir(), "host-local-world-"));
process.on("exit", () => rmSync(world, { recursive: true, force: true }));

/** An empty home: a shell that a test starts would read the profile of the user's own. */
const home = join(world, "home");
mkdirSync(home);

/** The `/proc/uptime` of a machine that has been up for a day: `check` looks for no leaks on one that has just started. */
const uptime = join(world, "uptime");
writeFileSync(uptime, "86400.00 86400.00\n");

/** The words before a command to which the machine's own directories are empty; none where that is not allowed. */
const onEmptyMachine: readonly string[] = wordsForEmptyMachine();

/** The words before one to which the machine has no addresses, either: ADD hands out none that lives. */
const onMachineWithoutAddresses: readonly string[] = [
  ...onEmptyMachine,
  ...wordsForOwnAddresses(onEmptyMachine),
];

/** Each leads a group with all that its tests have started. */
const running = new Set<ChildProcess>();

process.on("exit", () => {
  for (const child of running) killGroup(child);
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));

/**
 * Runs test files: one as it is, several one after the other in the same process.
 *
 * @param paths the files, relative to the top of the repository
 * @param environment variables besides those of this process
 * @param longest how long they may take, in seconds, from their first line: on a busy machine a process takes long to come
 *   to its first test. Then the result says in which test they were
 * @returns their results, in the same order
 */
export function runTestFiles(
  paths: readonly string[],
  environment: Readonly<Record<string, string>>,
  longest = LONGEST,
): Promise<readonly FileResult[]> {
  const [program = "", ...words] = [
    ...(paths.every((path) => needsNoAddresses({ words: wordsOf(path) }))
      ? onMachineWithoutAddresses
      : onEmptyMachine),
    process.execPath,
    ...(paths.length === 1 ? paths : [join("scripts", "test", "room.ts"), ...paths]),
  ];
  return new Promise((settle, fail) => {
    const began = performance.now();
    const child = spawn(program, words, {
      cwd: root,
      env: {
        ...process.env,
        HOME: home,
        TAP_TIMEOUT: `${longest}`,
        NODE_COMPILE_CACHE: compileCache,
        HOST_LOCAL_IS_BUILT: "for this run",
        HOST_LOCAL_RUNTIME_DIR: join(mkdtempSync(join(world, "run-")), "host-local"),
        ...environment,
      },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    running.add(child);
    let isLate = false;
    const kill = (): void => {
      isLate = true;
      killGroup(child);
      setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, LAST_WORDS);
    };
    let deadline = setTimeout(kill, LONGEST * 1000);
    child.stdout.once("data", () => {
      clearTimeout(deadline);
      deadline = setTimeout(kill, (longest + graceAfter(longest)) * 1000);
    });
    const output: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => output.push(chunk));
    }
    child.on("error", fail);
    child.on("close", (exitCode, signal) => {
      clearTimeout(deadline);
      running.delete(child);
      settle(
        resultsOf(Buffer.concat(output).toString("utf8"), {
          paths,
          seconds: (performance.now() - began) / 1000,
          isOrderly: exitCode === 0,
          end: isLate ? `it took longer than ${longest} s` : (signal ?? `exit code ${exitCode}`),
        }),
      );
    });
  });
}

function wordsForEmptyMachine(): readonly string[] {
  const cover = [
    "set -e",
    'mount --bind "$1" /proc/uptime',
    "shift",
    'for d; do [ "$d" != -- ] || break; shift; [ ! -d "$d" ] || mount -t tmpfs tmpfs "$d"; done',
    "shift",
    'exec "$@"',
  ];
  const shell = ["sh", "-c", cover.join("\n"), "sh"];
  const words = [
    "unshare",
    "--mount",
    "--propagation",
    "private",
    ...shell,
    uptime,
    ...ownDirectories,
    "--",
  ];
  return isAllowed(words) ? words : [];
}

/** The words before a command in a network namespace of its own; none where that is not allowed, or `ip` is not there. */
function wordsForOwnAddresses(before: readonly string[]): readonly string[] {
  const words = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"];
  return isAllowed([...before, ...words]) ? words : [];
}

function isAllowed(words: readonly string[]): boolean {
  const [program = "", ...rest] = [...words, "true"];
  return spawnSync(program, rest).status === 0;
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}
