/**
 * The floor: what a call cannot be faster than. A program in C makes the same system calls as a call of the native
 * executable, with the same arguments, and nothing else; it is written from what strace sees.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { command, output } from "../build/command.ts";
import { variablesOf } from "./runner.ts";
import type { Contender } from "./store.ts";

/** A system call, as strace prints it. */
interface SystemCall {
  readonly name: string;
  readonly parameters: readonly string[];
}

/** Their results go to memory that the program has anyway. */
const READING = ["read", "pread64", "readlink", "readlinkat", "getdents64", "getrandom"];

/** The program's own start and end make these. */
const LEFT_OUT = ["brk", "munmap", "mremap", "exit_group", "rt_sigreturn"];

/**
 * Builds the floor of a program's calls, which are made, one after the other.
 *
 * @param directory where to put it
 * @param verbs of the calls; the floor makes the one that `CNI_COMMAND` names
 */
export function buildFloor(
  directory: string,
  contender: Contender,
  verbs: readonly string[],
): Contender {
  const source = join(directory, "floor.c");
  const executable = join(directory, "floor");
  const branches = verbs.map((verb) => {
    const statements = trace(directory, contender, verb)
      .map((one) => `    ${statementOf(one)}\n`)
      .join("");
    return `  if (strcmp(verb, "${verb}") == 0) {\n${statements}  }\n`;
  });
  writeFileSync(source, `${PREFACE}${branches.join("")}  return 0;\n}\n`);
  output(["gcc", "-std=gnu11", "-O2", "-static", source, "-o", executable]);
  return { ...contender, executable };
}

const PREFACE = `#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
static char memory[1024 * 1024];
int main(void) {
  const char *verb = getenv("CNI_COMMAND");
`;

/** The system calls of a call of the native executable, from the beginning of its `main`. */
function trace(directory: string, { executable, store }: Contender, verb: string) {
  const log = join(directory, "trace");
  const { configuration } = store;
  const variables = variablesOf({ executable, configuration, verb });
  const words = ["strace", "--output", log, "--string-limit=65536", executable];
  command(["env", "-i", ...variables, `CNI_CONTAINERID=${"0".repeat(64)}`, ...words], {
    input: configuration,
  });
  const lines = readFileSync(log, "utf8").split("\n");
  // The last act of the C library before main: what the linker resolved becomes read-only.
  const start = lines.findIndex((line) => line.startsWith("mprotect("));
  return lines.slice(start + 1).flatMap(systemCallIn);
}

function systemCallIn(line: string): readonly SystemCall[] {
  const [, name, rest = ""] = /^(\w+)\((.*)$/.exec(line) ?? [];
  if (name === undefined || LEFT_OUT.includes(name)) return [];
  return [{ name, parameters: parametersIn(rest) }];
}

/** Splits parameters at the commas between them, up to the closing parenthesis. */
function parametersIn(text: string): readonly string[] {
  const parameters: string[] = [];
  let depth = 0;
  let parameter = "";
  for (const token of text.match(/"(?:\\.|[^"\\])*"|\/\*.*?\*\/|./g) ?? []) {
    if (token === ")" && depth === 0) break;
    if (/^[{[(]$/.test(token)) depth++;
    if (/^[}\])]$/.test(token)) depth--;
    if (token === "," && depth === 0) {
      parameters.push(parameter.trim());
      parameter = "";
    } else if (!token.startsWith("/*")) {
      parameter += token;
    }
  }
  return parameter === "" ? parameters : [...parameters, parameter.trim()];
}

function statementOf({ name, parameters }: SystemCall): string {
  const [first = "", second = "", third = ""] = parameters;
  if (name === "rt_sigaction") return `signal(${first}, SIG_IGN);`;
  if (name === "poll") {
    return `poll(&(struct pollfd){.fd = 0, .events = POLLIN}, 1, ${third});`;
  }
  if (name === "utimensat") return `utimensat(${first}, ${second}, NULL, 0);`;
  const texts = parameters.filter(isText);
  // What readlink reads comes after its path.
  const result = READING.includes(name) ? texts.at(name.startsWith("readlink") ? 1 : 0) : undefined;
  const values = parameters.map((parameter) =>
    /^(?:[{[]|0x[0-9a-f]{6,}$)/.test(parameter) || parameter === result ? "memory" : parameter,
  );
  return `syscall(${[`SYS_${name}`, ...values].join(", ")});`;
}

function isText(parameter: string): boolean {
  return parameter.startsWith('"');
}
