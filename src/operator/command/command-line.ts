/** Parses the command line of a command. */

import arg from "arg";
import { type Command, CommandError, type Context } from "./command.ts";
import { commonOptions } from "./common-options.ts";

/** The options and operands that were given. */
export type ParsedCommandLine = Pick<Context, "operands" | "has" | "option">;

/**
 * Parses the arguments after the command's name.
 *
 * @throws CommandError on an unknown option, a missing value, or a wrong number of operands
 */
export function parseCommandLine(command: Command, words: readonly string[]): ParsedCommandLine {
  const spec: Record<string, StringConstructor | BooleanConstructor> = {};
  for (const { name, value } of [...command.options, ...commonOptions]) {
    spec[name] = value === undefined ? Boolean : String;
  }
  const { _: operands, ...options } = read(command, spec, words);
  const { least, most } = command.operandCount;
  if (options["--help"] !== true && (operands.length < least || operands.length > most)) {
    const problem = operands.length < least ? "missing operand" : "too many operands";
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
      `${name}: ${valued}: this option takes no value; omit it to turn it off`,
    );
  }
  try {
    return arg(spec, { argv: [...words] });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new CommandError(`${name}: ${error.message}`);
  }
}
