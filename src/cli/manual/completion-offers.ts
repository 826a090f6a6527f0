/** What a shell may offer at the end of a command line, by the definitions of the commands alone: nothing is read. */

import type { Command, Option } from "../command/command.ts";
import { optionsOf } from "../command/common-options.ts";
import { wordsIn } from "../command/words.ts";

/** A word, perhaps with a description. */
type Offer = readonly [word: string, description?: string];

/** The offer of files, in place of all words: the shell completes names of files itself. */
export const FILES = ":files";

/**
 * What may stand at the end of a line instead of its last word.
 *
 * @param line what was typed, from the program's name to the cursor
 */
export function offersFor(line: string, commands: readonly Command[]): readonly Offer[] {
  const isNewWord = /\s$/.test(line);
  const { words } = wordsIn(line);
  const before = words.slice(1, isNewWord ? undefined : -1);
  const last = isNewWord ? "" : (words.at(-1) ?? "");
  return offersAfter(before, last, commands).filter(
    ([word]) => word.startsWith(last) || word === FILES,
  );
}

function offersAfter(
  before: readonly string[],
  last: string,
  commands: readonly Command[],
): readonly Offer[] {
  const [name] = before;
  const named = commands.map((command): Offer => [command.name, command.summary]);
  if (name === undefined) {
    return [...named, ["help", "print help for a command"], ["--help"], ["--version"]];
  }
  if (name === "help") return named;
  const command = commands.find((known) => known.name === name);
  if (command === undefined) return [];
  const options = optionsOf(command);
  const valued = (text: string): Option | undefined =>
    options.find((option) => option.name === text && option.value !== undefined);
  const valuesOf = ({ value = "" }: Option): readonly string[] => wordsFor(value);
  const awaiting = valued(before.at(-1) ?? "");
  if (awaiting !== undefined) return valuesOf(awaiting).map((value) => [value]);
  const assigned = valued(last.replace(/=.*/s, ""));
  if (assigned !== undefined && last.includes("=")) {
    return valuesOf(assigned).map((value) => [
      value === FILES ? value : `${assigned.name}=${value}`,
    ]);
  }
  return last.startsWith("-")
    ? options.map((option) => [option.name, option.summary])
    : wordsFor(command.operands).map((operand) => [operand]);
}

/** The literal words among placeholders, such as `bash` and `zsh`; files for `DIR` and `FILE`. */
function wordsFor(placeholders: string): readonly string[] {
  if (/\b(?:DIR|FILE)\b/.test(placeholders)) return [FILES];
  return placeholders.match(/\b[a-z]+\b/g) ?? [];
}
