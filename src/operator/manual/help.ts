/** What `--help` says. */

import { type Command, CommandError, type Option } from "../command/command.ts";
import { commonOptions } from "../command/common-options.ts";

const WIDTH = 100;

/** What the program is. */
export const SUMMARY = "addresses for containers, and what became of them";

/** The usage line of a command. */
export function usageOf({ name, operands, options }: Command): string {
  const words = [`host-local ${name}`, operands, options.length > 0 ? "[OPTION]..." : ""];
  return words.filter((word) => word !== "").join(" ");
}

/** All commands. */
export function overview(commands: readonly Command[]): string {
  return [
    `host-local: ${SUMMARY}.`,
    "",
    "A container runtime calls it as a CNI plugin, with CNI_COMMAND. With arguments it is a tool for operators:",
    "",
    ...pairs(
      commands.map(({ name, operands, summary }) => [`${name} ${operands}`.trim(), summary]),
    ),
    "",
    "Common options:",
    "",
    ...pairs(commonOptions.map(pairOf)),
    "",
    "Exit codes: 0 nothing is wrong, 1 there are findings, or it was refused, 2 it could not look.",
    "host-local COMMAND --help explains a command.",
    "",
  ].join("\n");
}

/** One command. */
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

/** An option as people write it. */
export function formatOption({ name, value }: Option): string {
  return value === undefined ? name : `${name} ${value}`;
}

/** The command with this name. */
export function findCommand(commands: readonly Command[], name: string): Command {
  const command = commands.find((one) => one.name === name);
  if (command !== undefined) return command;
  throw new CommandError(`there is no command ${JSON.stringify(name)}; see host-local --help`);
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
