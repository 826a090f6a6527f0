/** From the words of a command line to the options and operands of a command. */

import arg from "arg";
import { type Command, CommandError, type Context } from "./command.ts";
import { commonOptions } from "./common-options.ts";

/** The words, understood. */
export type Parsed = Pick<Context, "operands" | "has" | "option">;

/**
 * Reads what stands behind the command's name.
 *
 * @throws CannotLook for an unknown option, a missing value, too few or too many operands
 */
export function parseCommandLine(command: Command, words: readonly string[]): Parsed {
  const spec: Record<string, StringConstructor | BooleanConstructor> = {};
  for (const { name, value } of [...command.options, ...commonOptions]) {
    spec[name] = value === undefined ? Boolean : String;
  }
  const { _: operands, ...options } = read(command, spec, words);
  const { least, most } = command.operandCount;
  if (options["--help"] !== true && (operands.length < least || operands.length > most)) {
    const problem = operands.length < least ? "an operand is missing" : "too many operands";
    throw new CommandError(`${command.name}: ${problem}; expected ${command.operands || "none"}`);
  }
  return {
    operands,
    has: (option) => options[option] === true,
    option: (name) => {
      const value = options[name];
      return typeof value === "string" ? value : undefined;
    },
  };
}

function read(
  { name }: Command,
  spec: Record<string, StringConstructor | BooleanConstructor>,
  words: readonly string[],
): { _: string[]; [option: string]: unknown } {
  const valued = words.find((word) => spec[word.replace(/=.*/s, "")] === Boolean && /=/.test(word));
  if (valued !== undefined) {
    throw new CommandError(
      `${name}: ${valued}: a switch takes no value; leave it out where it is not meant`,
    );
  }
  try {
    return arg(spec, { argv: [...words] });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new CommandError(`${name}: ${error.message}`);
  }
}
