/** Network namespaces of running pods: one that a process runs in, or one that is mounted at a path. */

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

/** Starts a process in a network namespace of its own, once a shell has set that up. */
async function startProcess(
  t: Pick<Test, "teardown">,
  setUp: string,
  words: readonly string[] = [],
): Promise<number> {
  const script = `${setUp} && echo ready && exec cat`;
  return startProgram(t, ["unshare", "--net", "sh", "-c", script, "sh", ...words]);
}

/**
 * Starts a process that has a namespace open, and is not in it, as a daemon of the node; it ends with the test.
 *
 * @returns its process id
 */
export async function processWithOpen(t: Pick<Test, "teardown">, path: string): Promise<number> {
  // It says so once it is cat, whose name is looked for.
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
 * Starts a process of which only a later thread is in the namespace at a path; it ends with the test.
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

/** Starts a program, which ends with the test: its process id, once it has said `ready`. */
async function startProgram(
  t: Pick<Test, "teardown">,
  [file = "", ...words]: readonly string[],
): Promise<number> {
  const child = spawn(file, words, { stdio: ["pipe", "pipe", "inherit"] });
  // Its addresses are in use until it has ended, and the next test may have the same.
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
  // As runtimes do: another test's command may have the namespace open at this moment, and a plain umount would fail.
  t.teardown(() => spawnSync("umount", ["--lazy", path]));
  const words = [`--net=${path}`, "sh", "-c", setUpLoopback, "sh", ...addresses];
  const { status } = spawnSync("unshare", words, { stdio: "inherit" });
  if (status !== 0) throw new Error(`no network namespace at ${path}`);
}

/** So many namespaces, of any kind, may other tests make while one is looked at that is gone. */
const OTHERS = 64;

/**
 * Makes a namespace that will be gone with a higher number than the next ones get: the kernel gives the lowest that is free
 * again at once, and where a process of another test has it, nobody knows.
 *
 * @param make makes it, by a command
 * @returns what that returns
 */
export function withHighNumber<T>(make: () => T): T {
  const giveBack = holdLowNumbers();
  try {
    return make();
  } finally {
    giveBack();
  }
}

/** As `withHighNumber`, for what is made until the numbers are given back, by the returned function. */
export function holdLowNumbers(): () => void {
  const directory = mkdtempSync(join(tmpdir(), "host-local-numbers-"));
  const run = (script: string): boolean =>
    spawnSync("sh", ["-c", script], { cwd: directory, stdio: "inherit" }).status === 0;
  const giveBack = (): void => {
    // Another test's command may have one open at this moment. What is still mounted cannot be removed.
    run("umount --lazy *");
    rmSync(directory, { recursive: true });
  };
  // All kinds share the numbers, and one of these is made fastest. Two tests at once have different ones above.
  const count = OTHERS + randomInt(OTHERS);
  if (!run(`for i in $(seq ${count}); do : > $i; unshare --uts=$i true || exit; done`)) {
    giveBack();
    throw new Error("no namespaces");
  }
  return giveBack;
}

/**
 * Takes a namespace away, and returns once no process has its number.
 *
 * @param path where it is mounted
 * @param take takes it away, by a command; by default as runtimes do
 * @returns waits again until no process has its number: in some seconds, one may have got it
 */
export function takeNamespace(path: string, take: () => void = () => remove(path)): () => void {
  const id = `net:[${statSync(path).ino}]`;
  take();
  const wait = (): void => waitUntilFree(id);
  wait();
  return wait;
}

/** Unmounts it, and removes the file: with that go the copies of the mount that other tests' mount namespaces have. */
function remove(path: string): void {
  // Another test's command may have it open at this moment.
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
    // It has ended.
    return "";
  }
}

/**
 * Starts a process in a namespace that has an interface, and no address that anything reserves: as long as it runs, no
 * container is known to be dead by the namespaces of the node alone. Without the right to do so that is not known anyway.
 */
export async function startStranger(t: Pick<Test, "teardown">): Promise<void> {
  if (isGiven("makes namespaces")) {
    await processWithInterface(t);
  }
}

/**
 * Starts a process in a namespace that has an interface, and no address that anything reserves, as that of a virtual machine.
 *
 * @returns its process id
 */
export function processWithInterface(t: Pick<Test, "teardown">): Promise<number> {
  return startProcess(t, "ip link add eth0 type veth peer name eth1");
}
