/** The help texts. */

import { type Command, type Option, UsageError } from "../command/command.ts";
import {
  generalOptions,
  NETWORK_DEFAULTS,
  networkOptions,
  optionsOf,
} from "../command/common-options.ts";
import { suggestion } from "../command/suggestion.ts";
import { columns, formatTable } from "../output/table.ts";
import { wrap } from "../output/wrap.ts";

/** Longer lines are hard to read. */
const LARGEST_WIDTH = 100;

/** The program in one line, without a full stop. */
export const SUMMARY = "CNI IPAM plugin, and a tool for node operators";

/** The usage line of a command. */
export function synopsisOf({ name, operands, options, usage }: Command): string {
  if (usage !== undefined) return `host-local ${name} ${usage}`;
  const words = [`host-local ${name}`, operands, options.length > 0 ? "[OPTION]..." : ""];
  return words.filter((word) => word !== "").join(" ");
}

/**
 * The help of the program: all commands.
 *
 * @param width of the terminal
 */
export function overview(commands: readonly Command[], width: number): string {
  const paragraph = (text: string): readonly string[] => [...wrapped(text, width), ""];
  return [
    ...paragraph(`host-local: ${SUMMARY}.`),
    ...paragraph(
      "Container runtimes call it as a CNI plugin, with CNI_COMMAND set. The operator commands are:",
    ),
    ...pairs(
      commands.map(({ name, summary }) => [name, summary]),
      width,
    ),
    "",
    "Options of all commands:",
    ...pairs([...generalOptions, versionOption].map(pairOf), width),
    "",
    "Options of the commands that find networks:",
    ...pairs(networkOptions.map(pairOf), width),
    "",
    ...paragraph(NETWORK_DEFAULTS),
    ...paragraph(
      "Exit codes: 0 success, no problems found; 1 problems found, nothing found, or not confirmed; 2 error.",
    ),
    "Run 'host-local COMMAND --help' for more about a command.",
    "",
  ].join("\n");
}

/** Given in place of a command. */
const versionOption: Option = { name: "--version", summary: "print the version" };

/**
 * The help of a command.
 *
 * @param width of the terminal
 */
export function commandHelp(command: Command, width: number): string {
  const { summary, description, examples } = command;
  return [
    ...wrapped(`${synopsisOf(command)}: ${summary}.`, width),
    "",
    ...description.flatMap((paragraph) => [...wrapped(paragraph, width), ""]),
    "Options:",
    ...pairs(optionsOf(command).map(pairOf), width),
    "",
    examples.length === 1 ? "Example:" : "Examples:",
    ...examples.flatMap(({ line, effect }) => [
      `  ${line}`,
      ...wrapped(effect, width - 6).map((part) => `      ${part}`),
    ]),
    "",
  ].join("\n");
}

/** An option with its short form and the placeholder of its value. */
export function formatOption({ name, short, value }: Option): string {
  const names = short === undefined ? name : `${short}, ${name}`;
  return value === undefined ? names : `${names} ${value}`;
}

/**
 * The command with this name.
 *
 * @throws UsageError if there is none
 */
export function findCommand(commands: readonly Command[], name: string): Command {
  const command = commands.find((known) => known.name === name);
  if (command !== undefined) return command;
  if (name === "") throw new UsageError("missing command");
  if (name.startsWith("-")) {
    const names = [...generalOptions, versionOption].map((option) => option.name);
    throw new UsageError(
      `${name}: unknown option before the command${suggestion(name, names) || "; options follow the command"}`,
    );
  }
  const names = commands.map((known) => known.name);
  throw new UsageError(`unknown command ${JSON.stringify(name)}${suggestion(name, names)}`);
}

function pairOf(option: Option): readonly [string, string] {
  return [formatOption(option), option.summary];
}

/** Names with their summaries beside them, or below where that is too narrow. */
function pairs(entries: readonly (readonly [string, string])[], width: number): readonly string[] {
  const layout = { width: Math.min(width, LARGEST_WIDTH) - 2, isHeadless: true };
  const lines = formatTable(columns("", ""), entries, layout).trimEnd().split("\n");
  return lines.map((line) => `  ${line}`.trimEnd());
}

function wrapped(text: string, width: number): readonly string[] {
  return wrap(text, Math.max(20, Math.min(width, LARGEST_WIDTH)));
}
