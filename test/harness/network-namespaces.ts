/** Network namespaces of running pods: one that a process runs in, or one that is mounted at a path. */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readlinkSync, statSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Test } from "tap";
import { scratchDirectory } from "./data-directory.ts";

/** The reason for tap to skip what needs network namespaces, or false where they can be made. */
export const skipWithoutNamespaces: string | false =
  spawnSync("unshare", ["--net", "ip", "-V"]).status === 0
    ? false
    : "Making a network namespace takes root, and the programs unshare and ip.";

/** The same for what needs the process ids of the host. */
export const skipOutsideHost: string | false =
  skipWithoutNamespaces !== false || readlinkSync("/proc/self/ns/pid") === "pid:[4026531836]"
    ? skipWithoutNamespaces
    : "In a container nothing is seen of the processes of the host.";

/**
 * Starts a process in a network namespace of its own, with these addresses on the loopback interface; it ends with the
 * test.
 *
 * @param addresses with prefix lengths
 * @returns its process id, as soon as the addresses are configured
 */
export async function processWith(
  t: Pick<Test, "teardown">,
  ...addresses: readonly string[]
): Promise<number> {
  return startProcess(t, setUpLoopback, addresses);
}

const setUpLoopback = 'ip link set lo up && for a; do ip address add "$a" dev lo || exit; done';

/** Starts a process in a network namespace of its own, once a shell has set that up. */
async function startProcess(
  t: Pick<Test, "teardown">,
  setUp: string,
  words: readonly string[] = [],
): Promise<number> {
  const script = `${setUp} && echo ready && exec cat`;
  const child = spawn("unshare", ["--net", "sh", "-c", script, "sh", ...words], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  // Its addresses are in use until it has ended, and the next test may have the same.
  const ended = once(child, "exit");
  t.teardown(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  for await (const line of createInterface(child.stdout)) if (line === "ready") break;
  if (child.pid === undefined) throw new Error("unshare did not start");
  return child.pid;
}

/**
 * Mounts a new network namespace at a path, as runtimes do in `/run/netns`; no process runs in it.
 *
 * @param path a file to make
 * @param addresses with prefix lengths, for the loopback interface
 */
export function mountNamespace(
  t: Pick<Test, "teardown">,
  path: string,
  ...addresses: readonly string[]
): void {
  writeFileSync(path, "");
  const words = [`--net=${path}`, "sh", "-c", setUpLoopback, "sh", ...addresses];
  const { status } = spawnSync("unshare", words, { stdio: "inherit" });
  if (status !== 0) throw new Error(`no network namespace at ${path}`);
  // As runtimes do: another test's command may have the namespace open at this moment, and a plain umount would fail.
  t.teardown(() => spawnSync("umount", ["--lazy", path]));
}

/**
 * Takes a mounted namespace away, so that it is known to be gone: the kernel gives its number again at once, and a process
 * of another test that had it would be a doubt. For the length of the test a namespace of another kind has it.
 *
 * @param path where it is mounted
 */
export function takeNamespace(t: Pick<Test, "teardown">, path: string): void {
  const directory = scratchDirectory(t);
  t.teardown(() => spawnSync("sh", ["-c", "umount --lazy *"], { cwd: directory }));
  const { ino } = statSync(path);
  spawnSync("umount", [path]);
  occupyNumber(ino, directory);
}

/**
 * Waits until a number of a namespace is free, and gives it to one that is no network namespace.
 *
 * @param directory an empty one, where that is then mounted
 */
export function occupyNumber(number: number, directory: string): void {
  // The lowest that is free comes first, whatever the kind; it takes a moment until the kernel has freed one.
  const script = `
    for round in $(seq 600); do
      i=0 number=0
      while [ $number -lt $1 ]; do
        i=$((i + 1))
        : > $i
        unshare --uts=$i true || exit
        number=$(stat --dereference --format=%i $i)
      done
      kept=0
      if [ $number -eq $1 ]; then kept=$i; fi
      for j in $(seq $i); do
        if [ $j -ne $kept ]; then umount --lazy $j; fi
      done
      if [ $kept -ne 0 ]; then exit 0; fi
      sleep 0.1
    done
    exit 1`;
  const words = ["-c", script, "sh", `${number}`];
  const { status } = spawnSync("sh", words, { cwd: directory, stdio: "inherit" });
  if (status !== 0) throw new Error(`another namespace keeps the number ${number}`);
}

/**
 * Starts a process in a namespace that has an interface, and no address that anything reserves: as long as it runs, no
 * container is known to be dead by the namespaces of the node alone. Without the right to do so that is not known anyway.
 */
export async function startStranger(t: Pick<Test, "teardown">): Promise<void> {
  if (skipWithoutNamespaces === false) {
    await startProcess(t, "ip link add eth0 type veth peer name eth1");
  }
}
