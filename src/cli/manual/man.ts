import type { Command } from "../command/command.ts";
import { manualPage } from "./manual.ts";

declare const BUILD_VERSION: string;

/** `man`: prints the manual page. */
export const man: Command = {
  name: "man",
  operands: "",
  summary: "print the manual page",
  description: ["Prints the manual page, with the same content as --help, for man(1)."],
  options: [],
  examples: [
    { line: "host-local man | man -l -", effect: "read the manual page" },
    {
      line: "host-local man > /usr/local/share/man/man8/host-local.8",
      effect: "install the manual page",
    },
  ],
  run: ({ commands }) => {
    const page = manualPage(commands, BUILD_VERSION);
    return { exitCode: 0, document: () => ({ page }), text: () => page };
  },
};
