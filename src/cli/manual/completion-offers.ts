/** What a shell may offer at the end of a command line, by the definitions of the commands. */

import type { Command, Context, Option } from "../command/command.ts";
import { optionsOf } from "../command/common-options.ts";
import { wordsIn } from "../command/words.ts";

/** Lists the names that a placeholder such as NETWORK stands for; one may occur more than once. */
export type NameLists = Readonly<Record<string, (context: Context) => readonly string[]>>;

/** A word, perhaps with a description. */
type Offer = readonly [word: string, description?: string];

/** In place of all words: the shell completes names of files itself. */
export const FILES = ":files";

/**
 * What may stand at the end of a line instead of its last word.
 *
 * @param line what was typed, from the program's name to the cursor
 */
export function offersFor(line: string, lists: NameLists, context: Context): readonly Offer[] {
  const isNewWord = /\s$/.test(line);
  const { words } = wordsIn(line);
  const before = words.slice(1, isNewWord ? undefined : -1);
  const last = isNewWord ? "" : (words.at(-1) ?? "");
  const given = contextOf(context, before);
  return offersAfter(before, last, context.commands, (placeholders) =>
    namesFor(placeholders, lists, given),
  ).filter(([word]) => word.startsWith(last) || word === FILES);
}

function offersAfter(
  before: readonly string[],
  last: string,
  commands: readonly Command[],
  namesOf: (placeholders: string) => readonly string[],
): readonly Offer[] {
  const [name] = before;
  const named = commands.map((command): Offer => [command.name, command.summary]);
  if (name === undefined) {
    return [...named, ["help", "print help for a command"], ["--help"], ["--version"]];
  }
  if (name === "help") return named;
  const command = commands.find((one) => one.name === name);
  if (command === undefined) return [];
  const options = optionsOf(command);
  const valued = (text: string): Option | undefined =>
    options.find((option) => option.name === text && option.value !== undefined);
  const valuesOf = ({ value = "", values = namesOf(value) }: Option): readonly string[] => values;
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
    : namesOf(command.operands).map((operand) => [operand]);
}

/** What placeholders stand for, and the literal words among them, such as `bash` and `zsh`. */
function namesFor(placeholders: string, lists: NameLists, given: Context): readonly string[] {
  const kinds: readonly string[] = placeholders.match(/\b[A-Z]+\b/g) ?? [];
  if (kinds.includes("DIR") || kinds.includes("FILE")) return [FILES];
  const names = kinds.flatMap((kind) => lists[kind]?.(given) ?? []);
  // A name that a shell would split or a terminal obey is left out.
  const plain = [...new Set(names)].filter((name) => /^[\w.:/@%+-]+$/.test(name));
  return [...(placeholders.match(/\b[a-z]+\b/g) ?? []), ...plain];
}

/** The context of a command with these words, as far as it is known: a line that is being typed is incomplete. */
function contextOf({ system, commands }: Context, words: readonly string[]): Context {
  return {
    system,
    commands,
    operands: [],
    has: () => false,
    values: () => [],
    log: () => {},
    option: (name) => {
      const at = words.findIndex((word) => word === name || word.startsWith(`${name}=`));
      return words[at] === name ? words[at + 1] : words[at]?.slice(name.length + 1);
    },
  };
}
