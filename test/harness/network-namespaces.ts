/** Network namespaces of running pods: those with a process, and those that are mounted at a path. */

import { spawn, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Test } from "tap";
import { isGiven } from "./needs.ts";

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

/** Starts a process in a network namespace of its own, after a shell has set up the namespace. */
async function startProcess(
  t: Pick<Test, "teardown">,
  setUp: string,
  words: readonly string[] = [],
): Promise<number> {
  const script = `${setUp} && echo ready && exec cat`;
  return startProgram(t, ["unshare", "--net", "sh", "-c", script, "sh", ...words]);
}

/**
 * Starts a process that has a namespace open without being in it, like a daemon of the node; it ends with the test.
 *
 * @returns its process id
 */
export async function processWithOpen(t: Pick<Test, "teardown">, path: string): Promise<number> {
  // The process says `ready` once it is cat, whose name is looked for.
  const script = 'exec 3<"$1" && exec cat /dev/fd/4 - 4<<END\nready\nEND';
  return startProgram(t, ["sh", "-c", script, "sh", path]);
}

const enterInThread = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>
static void *enter(void *path) {
  int namespace = open(path, O_RDONLY);
  if (setns(namespace, CLONE_NEWNET) != 0) return NULL;
  close(namespace);
  puts("ready");
  fflush(stdout);
  for (;;) pause();
}
int main(int count, char **words) {
  pthread_t thread;
  if (count != 2 || pthread_create(&thread, NULL, enter, words[1]) != 0) return 1;
  pthread_join(thread, NULL);
  return 1;
}`;

/**
 * Starts a process with only a later thread in the namespace at a path; it ends with the test.
 *
 * @param directory where it is compiled
 * @returns its process id
 */
export async function processWithThreadIn(
  t: Pick<Test, "teardown">,
  path: string,
  directory: string,
): Promise<number> {
  const program = join(directory, "thread");
  const { status } = spawnSync("gcc", ["-x", "c", "-pthread", "-o", program, "-"], {
    input: enterInThread,
    stdio: ["pipe", "inherit", "inherit"],
  });
  if (status !== 0) throw new Error("gcc has failed");
  return startProgram(t, [program, path]);
}

/** Starts a program, which ends with the test, and returns its process id once the program has said `ready`. */
async function startProgram(
  t: Pick<Test, "teardown">,
  [file = "", ...words]: readonly string[],
): Promise<number> {
  const child = spawn(file, words, { stdio: ["pipe", "pipe", "inherit"] });
  // The addresses of the process are in use until it has ended, and the next test may have the same.
  const ended = once(child, "exit");
  t.teardown(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  for await (const line of createInterface(child.stdout)) {
    if (line === "ready" && child.pid !== undefined) return child.pid;
  }
  throw new Error(`${file} ${words.join(" ")} has ended`);
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
  // Runtimes unmount lazily, too: another test's command may have the namespace open now, and a plain umount would fail.
  t.teardown(() => spawnSync("umount", ["--lazy", path]));
  const words = [`--net=${path}`, "sh", "-c", setUpLoopback, "sh", ...addresses];
  const { status } = spawnSync("unshare", words, { stdio: "inherit" });
  if (status !== 0) throw new Error(`no network namespace at ${path}`);
}

/** How many namespaces of any kind other tests may make while this one looks at a namespace that is gone. */
const OTHERS = 64;

/**
 * Makes a namespace with a higher number than the next ones get, for a test that ends it. The kernel gives the lowest free
 * number again at once; if a process of another test has it, the namespace seems alive.
 *
 * @param make makes the namespace, by a command
 * @returns the result of `make`
 */
export function withHighNumber<T>(make: () => T): T {
  const giveBack = holdLowNumbers();
  try {
    return make();
  } finally {
    giveBack();
  }
}

/** Takes the low numbers, as `withHighNumber` does, until the returned function gives them back. */
export function holdLowNumbers(): () => void {
  const directory = mkdtempSync(join(tmpdir(), "host-local-numbers-"));
  const run = (script: string): boolean =>
    spawnSync("sh", ["-c", script], { cwd: directory, stdio: "inherit" }).status === 0;
  const giveBack = (): void => {
    // Another test's command may have a namespace open now. A file that is still mounted cannot be removed.
    run("umount --lazy *");
    rmSync(directory, { recursive: true });
  };
  // Namespaces of all kinds share the numbers, and a UTS namespace is made fastest. Two tests at once hold different counts.
  const count = OTHERS + randomInt(OTHERS);
  if (!run(`for i in $(seq ${count}); do : > $i; unshare --uts=$i true || exit; done`)) {
    giveBack();
    throw new Error("no namespaces");
  }
  return giveBack;
}

/**
 * Removes a namespace, and returns once no process has its number.
 *
 * @param path where it is mounted
 * @param take removes it, by a command; by default as runtimes do
 * @returns a function that waits again until no process has its number: a new process may get it within seconds
 */
export function takeNamespace(path: string, take: () => void = () => remove(path)): () => void {
  const id = `net:[${statSync(path).ino}]`;
  take();
  const wait = (): void => waitUntilFree(id);
  wait();
  return wait;
}

/** Unmounts a namespace, and removes its file: the copies of the mount in other tests' mount namespaces go with the file. */
function remove(path: string): void {
  // Another test's command may have the namespace open now.
  spawnSync("umount", ["--lazy", path]);
  rmSync(path);
}

function waitUntilFree(id: string): void {
  for (
    let tries = 0;
    tries < 600 && processes().some((process) => namespaceOf(process) === id);
    tries++
  ) {
    spawnSync("sleep", ["0.05"]);
  }
}

function processes(): readonly string[] {
  return readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
}

function namespaceOf(process: string): string {
  try {
    return readlinkSync(`/proc/${process}/ns/net`);
  } catch {
    // The process has ended.
    return "";
  }
}

/**
 * Starts a process in a namespace that has an interface, and no address that anything reserves. As long as it runs, the node's
 * namespaces alone do not show that a container is dead. Without the right to start it, they do not show that anyway.
 */
export async function startStranger(t: Pick<Test, "teardown">): Promise<void> {
  if (isGiven("makes namespaces")) {
    await processWithInterface(t);
  }
}

/**
 * Starts a process in a namespace like a virtual machine's: it has an interface, and no address that anything reserves.
 *
 * @returns its process id
 */
export function processWithInterface(t: Pick<Test, "teardown">): Promise<number> {
  return startProcess(t, "ip link add eth0 type veth peer name eth1");
}
