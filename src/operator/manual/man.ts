import type { Command } from "../command/command.ts";
import { manualPage } from "./manual.ts";

declare const BUILD_VERSION: string;

/**
 * `man`: the manual page.
 *
 * @param commands all of them, this one among them
 */
export function manOf(commands: () => readonly Command[]): Command {
  return {
    name: "man",
    operands: "",
    operandCount: { least: 0, most: 0 },
    summary: "print the manual page",
    description: ["Prints the manual page for man(1), made of what --help says."],
    options: [],
    examples: [
      { line: "host-local man | man -l -", effect: "read it" },
      {
        line: "host-local man > /usr/local/share/man/man8/host-local.8",
        effect: "let man host-local find it",
      },
    ],
    run: () => {
      const page = manualPage(commands(), BUILD_VERSION);
      return { exitCode: 0, document: { page }, text: page };
    },
  };
}
