/** Parses the command line of a command. */

import arg from "arg";
import { type Command, type Context, type Option, UsageError } from "./command.ts";
import { optionsOf } from "./common-options.ts";
import { listOf, textOf } from "./json-values.ts";
import { suggestion } from "./suggestion.ts";

/** The options and operands that were given. */
export type ParsedCommandLine = Pick<Context, "operands" | "has" | "option" | "values">;

/**
 * Parses the arguments after the command's name.
 *
 * @throws UsageError on an unknown option, a missing or empty value, one value too many, an option without one that
 *   it requires, options that exclude each other, or a wrong number of operands
 */
export function parseCommandLine(command: Command, words: readonly string[]): ParsedCommandLine {
  const definitions = optionsOf(command);
  const { _: operands, ...given } = read(definitions, words);
  const values = (name: string): readonly string[] => listOf(given[name]).map(textOf);
  if (given["--help"] !== true) {
    for (const option of definitions) requireValid(option, given);
    const both = (command.exclusive ?? [])
      .map((names) => names.filter((option) => given[option] !== undefined))
      .find(({ length }) => length > 1);
    if (both)
      throw new UsageError(`${both[0]}: cannot be combined with ${both.slice(1).join(", ")}`);
    requireOperands(command, operands);
  }
  return {
    operands,
    has: (option) => given[option] === true,
    option: (name) => values(name)[0],
    values,
  };
}

function requireValid(
  { name, value = "", isRepeatable = false, requires = [name] }: Option,
  given: Readonly<Record<string, unknown>>,
): void {
  const texts = listOf(given[name]).map(textOf);
  const refuse = (problem: string): UsageError => new UsageError(`${name}: ${problem}`);
  if (texts.length > 1 && !isRepeatable) throw refuse("given more than once");
  if (given[name] !== undefined && requires.every((required) => given[required] === undefined)) {
    throw refuse(`requires ${requires.join(" or ")}`);
  }
  if (texts.includes("")) throw refuse(`expected ${value}, found ""`);
}

function requireOperands({ operands }: Command, given: readonly string[]): void {
  const names = operands.split(" ").filter((operand) => operand !== "");
  const least = names.filter((operand) => !operand.startsWith("[")).length;
  const most = operands.endsWith("...") ? Number.POSITIVE_INFINITY : names.length;
  const problem =
    given.length < least
      ? "missing operand"
      : given.length > most
        ? "too many operands"
        : given.includes("")
          ? "empty operand"
          : undefined;
  if (problem !== undefined) {
    throw new UsageError(`${problem}: expected ${operands || "none"}`);
  }
}

function read(
  definitions: readonly Option[],
  words: readonly string[],
): { _: string[]; [option: string]: unknown } {
  const spec: Record<string, [StringConstructor] | BooleanConstructor | string> = {};
  for (const option of definitions) {
    spec[option.name] = option.value === undefined ? Boolean : [String];
    if (option.short !== undefined) spec[option.short] = option.name;
  }
  const valued = words.find((word) => spec[word.replace(/=.*/s, "")] === Boolean && /=/.test(word));
  if (valued !== undefined) {
    const [option = "", found = ""] = valued.split(/=(.*)/s);
    throw new UsageError(`${option}: expected no value, found ${found}; omit it to turn it off`);
  }
  try {
    return arg(spec, { argv: [...words] });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const [, unknown] = /^unknown or unexpected option: (.*)$/s.exec(error.message) ?? [];
    if (unknown !== undefined) {
      const names = definitions.map((option) => option.name);
      throw new UsageError(`${unknown}: unknown option${suggestion(unknown, names)}`);
    }
    const [, empty] = /^option requires argument[^:]*: (\S+)/.exec(error.message) ?? [];
    const value = definitions.find(({ name, short }) => name === empty || short === empty)?.value;
    throw new UsageError(
      empty === undefined ? error.message : `${empty}: expected ${value}, found no value`,
    );
  }
}
