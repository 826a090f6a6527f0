/** The command lines in documents and messages. */

import type { Command } from "../../src/cli/command/command.ts";
import { commands } from "../../src/commands.ts";

/** What stands in documents for a value of the reader's. */
const placeholders: Readonly<Record<string, string>> = {
  NETWORK: "mynet",
  ADDRESS: "10.244.3.17",
  CONTAINER: "4f1d6e0c8b7a",
  POD: "default/web",
  COMMAND: "list",
  DIR: "/run/work",
  FILE: "/run/work/file",
  NODE: "node-1",
  N: "3",
  TIME: "03:00",
};

/**
 * The command lines of this tool in a page of Markdown: in sessions behind a prompt, in shell scripts, and in the text
 * as code. The name of a command alone is a mention in the text, and what has `<words>` is a form.
 */
export function commandsInPage(page: string): readonly string[] {
  const found: string[] = [];
  const text = page.replaceAll(
    /^```(\w*)\n((?:.*\n)*?)```$/gm,
    (_, language: string, block: string) => {
      const lines = block.replaceAll(/(?:\\|(?<=&&|\|))\n\s*/g, " ").split("\n");
      if (language === "console")
        found.push(...lines.flatMap((line) => /^[$#] (.*)/.exec(line)?.[1] ?? []));
      if (language === "sh") found.push(...lines);
      return "";
    },
  );
  found.push(
    ...[...text.matchAll(/`([^`]+)`/g)]
      .map(([, code = ""]) => code.replaceAll(/\s+/g, " "))
      .filter((code) => !/^host-local \w+$|<[a-z ]+>/.test(code)),
  );
  return found.filter(isOfTheTool).map(fillIn);
}

function isOfTheTool(line: string): boolean {
  return /(?:^|[ (/|])host-local [-a-z]/.test(line);
}

/** A line of a document with its placeholders filled in; what is optional is there. */
function fillIn(line: string): string {
  return line
    .replaceAll("\\|", "|")
    .replaceAll(/\[([A-Z]+)\]/g, "$1")
    .replaceAll(/\b[A-Z]+\b/g, (word) => placeholders[word] ?? word);
}

/**
 * The command lines of this tool in the sentences of a message. A line ends where its words can no longer be those of
 * the command: a word that is not an option, and does not look like a name, an address or a path.
 *
 * @param networks the networks of the node
 */
export function commandsInMessage(message: string, networks: readonly string[]): readonly string[] {
  return [...message.matchAll(/(?:^|[\s`('])host-local ([a-z]+)(?= |[`.,;:)]|$)/gm)].flatMap(
    (match) => {
      const command = commands.find(({ name }) => name === match[1]);
      const after = message.slice(match.index + match[0].length).split("\n")[0] ?? "";
      return command === undefined
        ? []
        : [fillIn(["host-local", command.name, ...wordsOf(command, after, networks)].join(" "))];
    },
  );
}

function wordsOf(
  { options }: Command,
  text: string,
  networks: readonly string[],
): readonly string[] {
  const words: string[] = [];
  const tokens = [...text.matchAll(/ (?:'[^']*'|[^ '])+/g)].map(([token]) => token.slice(1));
  let isValue = false;
  for (const token of text.startsWith(" ") ? tokens : []) {
    const word = token.replace(/[`.,;:)]+$/, "");
    const isOperand = /^[A-Z]+$|[/\d]/.test(word) || networks.includes(word);
    if (!isValue && !isOperand && !word.startsWith("--")) break;
    words.push(word);
    if (word !== token) break;
    const option = options.find(({ name }) => name === word);
    isValue = option?.value !== undefined || /^--[a-z]+-dir$/.test(word);
  }
  return words;
}
