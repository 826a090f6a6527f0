/** Parses the command line of a command. */

import arg from "arg";
import { type Command, type Context, type Option, UsageError } from "./command.ts";
import { optionsOf } from "./common-options.ts";
import { suggestion } from "./suggestion.ts";

/** The options and operands that were given. */
export type ParsedCommandLine = Pick<Context, "operands" | "has" | "option">;

/**
 * Parses the arguments after the command's name.
 *
 * @throws UsageError on an unknown option, a missing, empty or unknown value, or a wrong number of operands
 */
export function parseCommandLine(command: Command, words: readonly string[]): ParsedCommandLine {
  const definitions = optionsOf(command);
  const { _: operands, ...options } = read(command, definitions, words);
  if (options["--help"] !== true) {
    for (const definition of definitions) requireValid(command, definition, options);
    requireOperands(command, operands);
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

function requireValid(
  command: Command,
  { name, value = "", values }: Option,
  given: Readonly<Record<string, unknown>>,
): void {
  const text = given[name];
  if (text === "") throw new UsageError(`${command.name}: ${name}: expected ${value}, found ""`);
  if (values === undefined || typeof text !== "string" || values.includes(text)) return;
  const known = `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`;
  throw new UsageError(`${command.name}: ${name}: expected ${known}, found ${text}`);
}

function requireOperands({ name, operands, operandCount }: Command, given: readonly string[]) {
  const { least, most } = operandCount;
  const problem =
    given.length < least
      ? "missing operand"
      : given.length > most
        ? "too many operands"
        : given.includes("")
          ? "empty operand"
          : undefined;
  if (problem !== undefined) {
    throw new UsageError(`${name}: ${problem}; expected ${operands || "none"}`);
  }
}

function read(
  { name }: Command,
  definitions: readonly Option[],
  words: readonly string[],
): { _: string[]; [option: string]: unknown } {
  const spec: Record<string, StringConstructor | BooleanConstructor | string> = {};
  for (const option of definitions) {
    spec[option.name] = option.value === undefined ? Boolean : String;
    if (option.short !== undefined) spec[option.short] = option.name;
  }
  const valued = words.find((word) => spec[word.replace(/=.*/s, "")] === Boolean && /=/.test(word));
  if (valued !== undefined) {
    throw new UsageError(`${name}: ${valued}: this option takes no value; omit it to turn it off`);
  }
  try {
    return arg(spec, { argv: [...words] });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const [, unknown] = /^unknown or unexpected option: (.*)$/s.exec(error.message) ?? [];
    if (unknown === undefined) throw new UsageError(`${name}: ${error.message}`);
    const names = definitions.map((option) => option.name);
    throw new UsageError(`${name}: unknown option ${unknown}${suggestion(unknown, names)}`);
  }
}
