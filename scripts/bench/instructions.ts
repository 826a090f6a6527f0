/** The instructions of a call, and how many a program that does nothing takes: what no call can be below. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { canCount, countInstructions } from "../../test/harness/instructions.ts";
import { output } from "../build/command.ts";
import { variablesOf } from "./runner.ts";
import type { Contender } from "./store.ts";

/** How many instructions a call takes, in user mode. */
export interface Instructions {
  /** What starts. */
  readonly title: string;
  readonly instructions: number;
}

/**
 * Counts the instructions of the calls for one container, after a first ADD and DEL, and those of an empty program in C
 * that is linked as the native executable is.
 *
 * @param directory where to put what is made on the way
 * @throws where valgrind is not installed
 */
export function instructionsOf(
  directory: string,
  { executable, store }: Contender,
): readonly Instructions[] {
  if (!canCount) throw new Error("valgrind is not installed, which counts instructions");
  const source = join(directory, "empty.c");
  const empty = join(directory, "empty");
  writeFileSync(source, "int main(void) { return 0; }\n");
  output(["gcc", "-O2", "-static", source, "-o", empty]);
  const { configuration } = store;
  const count = (program: string, verb: string): number => {
    const variables = variablesOf({ executable: program, configuration, verb });
    const named = [...variables, `CNI_CONTAINERID=${"0".repeat(64)}`];
    const environment = Object.fromEntries(named.map((variable) => variable.split(/=(.*)/s)));
    return countInstructions(program, environment, configuration, directory);
  };
  for (const verb of ["ADD", "DEL"]) count(executable, verb);
  return [
    { title: "an empty program", instructions: count(empty, "VERSION") },
    ...["VERSION", "ADD", "DEL"].map((verb) => ({
      title: verb,
      instructions: count(executable, verb),
    })),
  ];
}
