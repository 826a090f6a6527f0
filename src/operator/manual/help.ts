/** The help texts. */

import { type Command, CommandError, type Option } from "../command/command.ts";
import { commonOptions } from "../command/common-options.ts";

const WIDTH = 100;

/** The program in one line, without a full stop. */
export const SUMMARY = "CNI IPAM plugin, and a tool for node operators";

/** The usage line of a command. */
export function usageOf({ name, operands, options }: Command): string {
  const words = [`host-local ${name}`, operands, options.length > 0 ? "[OPTION]..." : ""];
  return words.filter((word) => word !== "").join(" ");
}

/** The help of the program: all commands. */
export function overview(commands: readonly Command[]): string {
  return [
    `host-local: ${SUMMARY}.`,
    "",
    "Container runtimes call it as a CNI plugin, with CNI_COMMAND set. The operator commands are:",
    "",
    ...pairs(
      commands.map(({ name, operands, summary }) => [`${name} ${operands}`.trim(), summary]),
    ),
    "",
    "Common options:",
    "",
    ...pairs(commonOptions.map(pairOf)),
    "",
    "Exit codes: 0 success, no problems found; 1 problems found, nothing found, or not confirmed; 2 error.",
    "Use host-local COMMAND --help for more about a command.",
    "",
  ].join("\n");
}

/** The help of a command. */
export function commandHelp(command: Command): string {
  const { summary, description, options, examples } = command;
  return [
    `${usageOf(command)}: ${summary}.`,
    "",
    ...description.flatMap((paragraph) => [...wrap(paragraph, WIDTH), ""]),
    "Options:",
    "",
    ...pairs([...options, ...commonOptions].map(pairOf)),
    "",
    examples.length === 1 ? "Example:" : "Examples:",
    "",
    ...examples.flatMap(({ line, effect }) => [`  ${line}`, `      ${effect}`]),
    "",
  ].join("\n");
}

/** An option with the placeholder of its value. */
export function formatOption({ name, value }: Option): string {
  return value === undefined ? name : `${name} ${value}`;
}

/**
 * The command with this name.
 *
 * @throws CommandError if there is none
 */
export function findCommand(commands: readonly Command[], name: string): Command {
  const command = commands.find((one) => one.name === name);
  if (command !== undefined) return command;
  throw new CommandError(`unknown command ${JSON.stringify(name)}; see host-local --help`);
}

function pairOf(option: Option): readonly [string, string] {
  return [formatOption(option), option.summary];
}

function pairs(entries: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...entries.map(([left]) => left.length));
  return entries.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}

function wrap(paragraph: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of paragraph.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
