/** The operator of the cluster, who pastes commands into a terminal. */

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { executable } from "../harness/executable.ts";
import { inRepository } from "../harness/repository.ts";
import { kubectlProgram } from "./programs.ts";
import { podNetwork } from "./worker.ts";

const ownCommands = inRepository("test/kubernetes/commands");
const linkedCommands = "/run/operator";

/**
 * Puts the programs of printed commands on the PATH of this process and its children: kubectl for the cluster, host-local (the
 * one under test), crictl, ssh, sudo, systemctl.
 *
 * @param kubeconfig the file with which kubectl reaches the cluster
 */
export function becomeOperator(kubeconfig: string): void {
  mkdirSync(linkedCommands);
  symlinkSync(executable, join(linkedCommands, "host-local"));
  symlinkSync(kubectlProgram(), join(linkedCommands, "kubectl"));
  const crictl = JSON.stringify(inRepository("test/kubernetes/crictl.ts"));
  const program = `import(${crictl}).then(({ crictl }) => crictl(process.argv.slice(2)));`;
  writeFileSync(
    join(linkedCommands, "crictl"),
    `#!/bin/sh\nexec ${process.execPath} -e '${program}' - "$@"\n`,
    { mode: 0o755 },
  );
  const { PATH = "" } = process.env;
  process.env.PATH = [linkedCommands, ownCommands, PATH].join(delimiter);
  process.env.KUBECONFIG = kubeconfig;
}

/**
 * Runs commands as they were printed.
 *
 * @param commands lines for a shell, which stops at the first that fails
 * @returns their standard output
 * @throws {Error} with their standard error if one fails
 */
export function shell(commands: string): string {
  return execFileSync("bash", ["-e", "-o", "pipefail", "-c", commands], {
    encoding: "utf8",
    cwd: "/run",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/**
 * The output of a command that may end with 1, like `check` with findings.
 *
 * @throws {Error} if it ends with another code than 0 or 1, for example because it is not there
 */
export function printedBy(command: string): string {
  return shell(`${command} || [ $? -eq 1 ]`);
}

/**
 * Commands and their output, as in a terminal.
 *
 * @param commands the commands, which may end with 1
 */
export function terminal(...commands: readonly string[]): string {
  return commands.map((command) => `$ ${command}\n${printedBy(`${command} 2>&1`)}`).join("\n");
}

/** Makes all reservations 20 minutes older, by the times of their files. */
export function pass20Minutes(): void {
  const files = `/var/lib/cni/networks/${podNetwork}/10.*`;
  shell(`for file in ${files}; do touch -r $file -d '-20 minutes' $file; done`);
}

/**
 * A command of a page, for the network of the pods.
 *
 * @param page such as `docs/scheduling.md`
 * @param words the command, or a part that no other command contains
 * @throws {Error} unless there is exactly one such command
 */
export function printedCommand(page: string, words: string): string {
  const lines = readFileSync(inRepository(page), "utf8").split("\n");
  const containing = lines.filter((line) => line.startsWith("$ ") && line.includes(words));
  const equal = containing.filter((line) => line === `$ ${words}`);
  const found = equal.length > 0 ? equal : containing;
  const [line] = found;
  if (line === undefined || found.length > 1) throw new Error(`${page} has not one: ${words}`);
  return line.slice(2).replaceAll("mynet", podNetwork);
}
